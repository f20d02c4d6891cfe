import { Alert, Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { t } from '../../texts/index.ts';
import { Dialog } from '../../ui/dialog.tsx';

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
    <Dialog opened={opened} onClose={onClose} title={t.canvas.newWorkflow}>
      <form
        onSubmit={form.onSubmit(({ name, eventName }) =>
          create.mutate({ name: name.trim(), eventName: eventName.trim() }),
        )}
      >
        <Stack>
          {create.error && <Alert color="red">{messageOf(create.error)}</Alert>}
          <TextInput label={t.common.name} required maxLength={255} data-autofocus {...form.getInputProps('name')} />
          <TextInput
            label={t.canvas.startEvent}
            description={t.canvas.startEventHint}
            required
            maxLength={255}
            {...form.getInputProps('eventName')}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={create.isPending}>
              {t.canvas.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
