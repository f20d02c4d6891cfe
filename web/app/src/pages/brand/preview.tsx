import { Alert, Stack } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { unwrap } from '../../api/client.ts';
import { useApi, useProject } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { previewPath } from '../../ui/mail-editor.tsx';
import { MailFrame } from '../../ui/mail-frame.tsx';
import { Placeholder } from '../../ui/page.tsx';
import { type KitForm, requestOf } from './kit.ts';
import { sampleDocument } from './sample.ts';

/** An email with the brand kit as it is edited, before it is saved. */
export function BrandPreview({ form }: { form: KitForm }) {
  const { client, key } = useApi();
  const project = useProject();
  const [kit] = useDebouncedValue(form, 300);
  const brandKit = requestOf(kit);
  const rendered = useQuery({
    queryKey: key('render', 'brand', brandKit),
    queryFn: () => {
      const document = sampleDocument(brandKit.logoUrl ?? null, project?.name ?? '');
      return unwrap(client.POST('/render', { body: { document: document as never, brandKit } }));
    },
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    retry: false,
  });
  return (
    <Stack gap="sm">
      {rendered.error && <Alert color="red">{messageOf(rendered.error)}</Alert>}
      {rendered.data && (
        <MailFrame previewUrl={previewPath(rendered.data.previewUrl)} text={rendered.data.text} height={560} />
      )}
      {rendered.isPending && <Placeholder lines={8} />}
    </Stack>
  );
}
