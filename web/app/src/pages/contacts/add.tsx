import { Alert, Button, Group, Stack, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { t } from '../../texts/index.ts';
import { Dialog } from '../../ui/dialog.tsx';

export function AddContactDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { email: '', subscribed: true } });
  // A contact that unsubscribed must not be subscribed by being added again: an untouched switch is not sent.
  const [chosen, setChosen] = useState(false);
  const add = useAction({
    run: (body: { email: string; subscribed?: boolean }) => unwrap(client.POST('/contacts', { body })),
    done: ({ email, _meta }, { subscribed }) => {
      if (_meta.isNew) return t.contacts.added(email);
      return subscribed === undefined ? t.contacts.exists(email) : t.contacts.updatedExisting(email);
    },
    changes: [key('contacts'), key('setup')],
    quiet: true,
    onDone: ({ id }) => {
      form.reset();
      setChosen(false);
      onClose();
      void navigate({ to: '/p/$projectId/contacts/$id', params: { projectId, id } });
    },
  });
  return (
    <Dialog opened={opened} onClose={onClose} title={t.contacts.addTitle}>
      <form
        onSubmit={form.onSubmit(({ email, subscribed }) =>
          add.mutate({ email: email.trim(), ...(chosen && { subscribed }) }),
        )}
      >
        <Stack>
          {add.error && <Alert color="red">{messageOf(add.error)}</Alert>}
          <TextInput label={t.contacts.email} type="email" required data-autofocus {...form.getInputProps('email')} />
          <Switch
            label={t.contacts.subscribed}
            description={t.contacts.addSubscribedHint}
            checked={form.values.subscribed}
            onChange={(event) => {
              setChosen(true);
              form.setFieldValue('subscribed', event.currentTarget.checked);
            }}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={add.isPending}>
              {t.contacts.add}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
