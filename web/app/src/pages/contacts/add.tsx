import { Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';

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
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={t.contacts.addTitle}
      error={add.error}
      busy={add.isPending}
      submit={t.contacts.add}
      onSubmit={form.onSubmit(({ email, subscribed }) =>
        add.mutate({ email: email.trim(), ...(chosen && { subscribed }) }),
      )}
    >
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
    </FormDialog>
  );
}
