import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { View } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';

interface SaveViewProps {
  /** What the list shows. */
  content: Pick<View, 'filters' | 'columns'>;
  onClose(): void;
}

/** Asks for the name of a new view. */
export function SaveViewDialog({ content, onClose }: SaveViewProps) {
  const { client, key } = useApi();
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? t.contactLists.viewNameNeeded : null) },
  });
  const create = useAction({
    run: (name: string) => unwrap(client.POST('/views', { body: { name, page: 'contacts', ...content } })),
    done: ({ name }) => t.contactLists.viewSaved(name),
    changes: [key('views')],
    quiet: true,
    onDone: onClose,
  });
  return (
    <FormDialog
      opened
      title={t.contactLists.saveView}
      onClose={onClose}
      intro={t.contactLists.saveViewText}
      error={create.error}
      busy={create.isPending}
      submit={t.common.save}
      onSubmit={form.onSubmit(({ name }) => create.mutate(name.trim()))}
    >
      <TextInput label={t.contactLists.viewName} maxLength={255} data-autofocus {...form.getInputProps('name')} />
    </FormDialog>
  );
}
