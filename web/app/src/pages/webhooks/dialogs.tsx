import { NumberInput, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { WebhookEndpoint } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { DateTimeField } from '../../ui/date-time-field.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { ShownOnceDialog } from '../../ui/shown-once.tsx';
import { useReauthentication } from '../security/reauthenticate.tsx';

interface EndpointDialogProps {
  endpoint: WebhookEndpoint;
  onClose(): void;
}

/** Times of the form are in the user's zone. */
const localInput = (time: Date): string =>
  new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
const DAY_MS = 86_400_000;

export function RecoverDialog({ endpoint: { id }, onClose }: EndpointDialogProps) {
  const { client, key } = useApi();
  const form = useForm({ initialValues: { since: localInput(new Date(Date.now() - DAY_MS)), until: '' } });
  const recover = useAction({
    run: ({ since, until }: typeof form.values) => {
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
      opened
      title={t.webhooks.recoverTitle}
      intro={<Text size="sm">{t.webhooks.recoverText}</Text>}
      error={recover.error}
      busy={recover.isPending}
      submit={t.webhooks.recover}
      onSubmit={form.onSubmit((values) => recover.mutate(values))}
      onClose={onClose}
    >
      <DateTimeField label={t.webhooks.since} required {...form.getInputProps('since')} />
      <DateTimeField
        label={t.webhooks.until}
        description={t.webhooks.untilHint}
        min={form.values.since.slice(0, 10)}
        {...form.getInputProps('until')}
      />
    </FormDialog>
  );
}

export function RotateDialog({ endpoint: { id }, onClose }: EndpointDialogProps) {
  const { client, key } = useApi();
  const form = useForm({ initialValues: { overlapHours: 24 } });
  const { confirmed, dialog } = useReauthentication();
  const rotate = useAction({
    run: (body: typeof form.values) =>
      confirmed(() => unwrap(client.POST('/webhook-endpoints/{id}/rotate-secret', { params: { path: { id } }, body }))),
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
        opened
        title={t.webhooks.rotateTitle}
        intro={<Text size="sm">{t.webhooks.rotateText}</Text>}
        error={rotate.error}
        busy={rotate.isPending}
        submit={t.webhooks.rotate}
        onSubmit={form.onSubmit(({ overlapHours }) => rotate.mutate({ overlapHours: Number(overlapHours) }))}
        onClose={onClose}
      >
        <NumberInput
          label={t.webhooks.overlap}
          required
          min={0}
          max={168}
          allowDecimal={false}
          hideControls
          {...form.getInputProps('overlapHours')}
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
