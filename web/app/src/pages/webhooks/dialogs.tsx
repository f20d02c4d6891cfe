import { Alert, Button, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { WebhookEndpoint } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { ShownOnceDialog } from '../../ui/shown-once.tsx';
import { useReauthentication } from '../security/reauthenticate.tsx';

interface EndpointDialogProps {
  endpoint: WebhookEndpoint;
  onClose(): void;
}

interface FormDialogProps {
  title: string;
  text: string;
  error: Error | null;
  busy: boolean;
  submit: string;
  onSubmit(): void;
  onClose(): void;
  children: ReactNode;
}

const FormDialog = ({ title, text, error, busy, submit, onSubmit, onClose, children }: FormDialogProps) => (
  <Dialog opened onClose={onClose} title={title}>
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Stack>
        <Text size="sm">{text}</Text>
        {error && <Alert color="red">{messageOf(error)}</Alert>}
        {children}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button type="submit" loading={busy}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  </Dialog>
);

/** Times of the form are in the user's zone. */
const localInput = (time: Date): string =>
  new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
const DAY_MS = 86_400_000;

export function RecoverDialog({ endpoint: { id }, onClose }: EndpointDialogProps) {
  const { client, key } = useApi();
  const [since, setSince] = useState(() => localInput(new Date(Date.now() - DAY_MS)));
  const [until, setUntil] = useState('');
  const recover = useAction({
    run: () => {
      const body = {
        since: new Date(since).toISOString(),
        ...(until && { until: new Date(until).toISOString() }),
      };
      return unwrap(client.POST('/webhook-endpoints/{id}/recover', { params: { path: { id } }, body }));
    },
    done: ({ count }) => t.webhooks.recovered(count),
    changes: [key('deliveries', id)],
    onDone: onClose,
    quiet: true,
  });
  return (
    <FormDialog
      title={t.webhooks.recoverTitle}
      text={t.webhooks.recoverText}
      error={recover.error}
      busy={recover.isPending}
      submit={t.webhooks.recover}
      onSubmit={recover.mutate}
      onClose={onClose}
    >
      <TextInput
        label={t.webhooks.since}
        type="datetime-local"
        required
        value={since}
        onChange={(event) => setSince(event.currentTarget.value)}
      />
      <TextInput
        label={t.webhooks.until}
        description={t.webhooks.untilHint}
        type="datetime-local"
        min={since}
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

export function RotateDialog({ endpoint: { id }, onClose }: EndpointDialogProps) {
  const { client, key } = useApi();
  const [overlapHours, setOverlapHours] = useState<number | string>(24);
  const { confirmed, dialog } = useReauthentication();
  const rotate = useAction({
    run: () =>
      confirmed(() =>
        unwrap(
          client.POST('/webhook-endpoints/{id}/rotate-secret', {
            params: { path: { id } },
            body: { overlapHours: Number(overlapHours) },
          }),
        ),
      ),
    changes: [key('webhooks')],
    quiet: true,
  });
  if (rotate.data)
    return (
      <ShownOnceDialog
        title={t.webhooks.secretTitle}
        text={t.webhooks.secretText}
        label={t.webhooks.secret}
        value={rotate.data.secret}
        confirm={t.webhooks.secretStored}
        onClose={onClose}
      />
    );
  return (
    <>
      <FormDialog
        title={t.webhooks.rotateTitle}
        text={t.webhooks.rotateText}
        error={rotate.error}
        busy={rotate.isPending}
        submit={t.webhooks.rotate}
        onSubmit={rotate.mutate}
        onClose={onClose}
      >
        <NumberInput
          label={t.webhooks.overlap}
          required
          min={0}
          max={168}
          allowDecimal={false}
          hideControls
          value={overlapHours}
          onChange={setOverlapHours}
        />
      </FormDialog>
      {dialog}
    </>
  );
}

export function DisableDialog({ endpoint: { id }, onClose }: EndpointDialogProps) {
  const { client, key } = useApi();
  const disable = useAction({
    run: () => unwrap(client.PATCH('/webhook-endpoints/{id}', { params: { path: { id } }, body: { enabled: false } })),
    done: () => t.webhooks.disabled,
    changes: [key('webhooks'), key('deliveries', id)],
    quiet: true,
  });
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={t.webhooks.disableTitle}
      confirm={t.webhooks.disable}
      onConfirm={() => disable.mutateAsync()}
    >
      {t.webhooks.disableText}
    </ConfirmDialog>
  );
}

export function DeleteDialog({ endpoint: { id, url }, onClose }: EndpointDialogProps) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const remove = useAction({
    run: async () => {
      await unwrap(client.DELETE('/webhook-endpoints/{id}', { params: { path: { id } } }));
      // Leaves first: the page of a deleted endpoint would ask for it again.
      await navigate({ to: '/p/$projectId/webhooks', params: { projectId } });
    },
    done: () => t.webhooks.deleted,
    changes: [key('webhooks')],
    quiet: true,
  });
  return (
    <ConfirmDialog
      opened
      danger
      onClose={onClose}
      title={t.webhooks.deleteTitle}
      confirm={t.common.delete}
      onConfirm={() => remove.mutateAsync()}
    >
      {t.webhooks.deleteText(url)}
    </ConfirmDialog>
  );
}
