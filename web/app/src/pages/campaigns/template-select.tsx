import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { Template } from '../../api/types.ts';
import { type EmailContent, emailContentOf } from '../../editor/content.ts';
import { t } from '../../texts/index.ts';

/** Begins with the subject and the content of a template of the project. */
export function TemplateSelect({ onChoose }: { onChoose(content: EmailContent, name: string): void }) {
  const { client, key } = useApi();
  const templates = useQuery({
    queryKey: key('templates', 'all'),
    queryFn: () => unwrap(client.GET('/templates', { params: { query: { pageSize: 100, sort: 'updatedAt' } } })),
  });
  // Lists leave documents out.
  const read = useAction<string, Template>({
    run: (id) => unwrap(client.GET('/templates/{id}', { params: { path: { id } } })),
    onDone: (template) => onChoose(emailContentOf(template), template.name),
  });
  const offered = templates.data?.data ?? [];
  if (offered.length === 0) return null;
  return (
    <Select
      label={t.campaigns.startFrom}
      description={t.campaigns.startFromHint}
      searchable
      maw={420}
      disabled={read.isPending}
      data={offered.map(({ id, name }) => ({ value: id, label: name }))}
      value={null}
      onChange={(id) => {
        if (id) read.mutate(id);
      }}
    />
  );
}
