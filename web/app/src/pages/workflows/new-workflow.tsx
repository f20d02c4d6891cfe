import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';

/** Creates an empty workflow, and opens its canvas. */
export function NewWorkflowDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { name: '', eventName: '' } });
  const create = useAction({
    run: ({ name, eventName }: { name: string; eventName: string }) =>
      unwrap(client.POST('/workflows', { body: { name, eventName } })),
    changes: [key('workflows')],
    quiet: true,
    onDone: ({ id }) => void navigate({ to: '/p/$projectId/workflows/$id', params: { projectId, id } }),
  });
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={t.canvas.newWorkflow}
      error={create.error}
      busy={create.isPending}
      submit={t.canvas.create}
      onSubmit={form.onSubmit(({ name, eventName }) =>
        create.mutate({ name: name.trim(), eventName: eventName.trim() }),
      )}
    >
      <TextInput label={t.common.name} required maxLength={255} data-autofocus {...form.getInputProps('name')} />
      <TextInput
        label={t.canvas.startEvent}
        description={t.canvas.startEventHint}
        required
        maxLength={255}
        {...form.getInputProps('eventName')}
      />
    </FormDialog>
  );
}
