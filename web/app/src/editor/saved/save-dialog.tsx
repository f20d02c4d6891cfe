import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useEffect } from 'react';
import type { SavedBlock } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { Choice } from '../../ui/controls.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import type { MailDocument } from '../schema/document.ts';

interface SaveBlockDialogProps {
  opened: boolean;
  onClose(): void;
  document: MailDocument | undefined;
  isFooter: boolean;
  onSaved(block: SavedBlock): void;
}

/** Saves a block of an email for use in others. */
export function SaveBlockDialog({ opened, onClose, document, isFooter, onSaved }: SaveBlockDialogProps) {
  const { client, key } = useApi();
  const form = useForm<{ name: string; kind: 'HEADER' | 'SECTION' }>({ initialValues: { name: '', kind: 'SECTION' } });
  const create = useAction<typeof form.values, SavedBlock>({
    run: ({ name, kind }) =>
      unwrap(
        client.POST('/saved-blocks', {
          body: { name: name.trim(), kind: isFooter ? 'FOOTER' : kind, document: document as never },
        }),
      ),
    done: ({ name }) => t.editor.blockSaved(name),
    changes: [key('saved-blocks')],
    quiet: true,
    onDone: onSaved,
  });
  useEffect(() => {
    if (!opened) return;
    form.reset();
    create.reset();
  }, [opened]);
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={t.editor.saveBlock}
      intro={<Text size="sm">{t.editor.saveBlockText}</Text>}
      error={create.error}
      busy={create.isPending}
      submit={t.editor.saveBlock}
      onSubmit={form.onSubmit((values) => create.mutate(values))}
    >
      <TextInput label={t.common.name} required maxLength={255} data-autofocus {...form.getInputProps('name')} />
      {!isFooter && (
        <Choice
          label={t.editor.savedKind}
          visibleLabel
          value={form.values.kind}
          onChange={(kind) => form.setFieldValue('kind', kind)}
          data={(['SECTION', 'HEADER'] as const).map((value) => ({ value, label: t.editor.savedKinds[value] }))}
        />
      )}
    </FormDialog>
  );
}
