import { Modal, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { Template } from '../../api/types.ts';
import { Gallery, type StartContent } from '../../editor/gallery/gallery.tsx';
import { t } from '../../texts/index.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';

/** Makes a template over a page that uses it: first what it looks like, then its name. */
export function NewTemplateDialog({ onClose, onCreated }: Omit<CreateDialogProps, 'start'>) {
  const [start, setStart] = useState<StartContent>();
  if (start) return <CreateDialog start={start} onClose={onClose} onCreated={onCreated} />;
  return (
    <Modal
      opened
      onClose={onClose}
      title={t.templates.newTitle}
      size="70rem"
      closeButtonProps={{ 'aria-label': t.common.close }}
      attributes={{ header: { role: 'presentation' } }}
    >
      <Gallery onChoose={setStart} />
    </Modal>
  );
}

const types = ['MARKETING', 'TRANSACTIONAL'] as const;

interface CreateDialogProps {
  start: StartContent;
  onClose(): void;
  onCreated(template: Template): void;
}

/** Asks for the name and the type of a template that begins with a design. */
export function CreateDialog({ start, onClose, onCreated }: CreateDialogProps) {
  const { client, key } = useApi();
  const form = useForm({
    initialValues: { name: start.name, subject: start.subject, type: start.type },
  });
  const create = useAction<typeof form.values, Template>({
    run: ({ name, subject, type }) => {
      // The API reads documents of fewer attributes than the type of its answers has.
      const content = start.document ? { document: start.document as never } : { body: t.templates.starter };
      return unwrap(
        client.POST('/templates', { body: { name: name.trim(), subject: subject.trim(), type, ...content } }),
      );
    },
    changes: [key('templates'), key('setup')],
    quiet: true,
    onDone: onCreated,
  });
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={t.templates.newTitle}
      error={create.error}
      busy={create.isPending}
      submit={t.templates.create}
      onSubmit={form.onSubmit((values) => create.mutate(values))}
    >
      <Stack>
        <TextInput label={t.templates.name} required maxLength={200} data-autofocus {...form.getInputProps('name')} />
        <TextInput label={t.templates.subject} required {...form.getInputProps('subject')} />
        <Select
          label={t.templates.type}
          description={t.templates.typeHints[form.values.type]}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          allowDeselect={false}
          data={types.map((value) => ({ value, label: t.templates.types[value] }))}
          {...form.getInputProps('type')}
        />
      </Stack>
    </FormDialog>
  );
}
