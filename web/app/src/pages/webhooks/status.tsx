import { Badge } from '@mantine/core';
import type { WebhookDelivery, WebhookEndpoint } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';

export function EndpointStatus({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { enabled, disabledReason, failingSince } = endpoint;
  const status = enabled ? 'enabled' : (disabledReason ?? 'disabled');
  return (
    <Badge color={!enabled ? (disabledReason ? 'red' : 'gray') : failingSince ? 'orange' : 'teal'}>
      {t.webhooks.statuses[status]}
    </Badge>
  );
}

const colors: Record<WebhookDelivery['status'], string> = {
  PENDING: 'blue',
  DELIVERED: 'teal',
  FAILED: 'red',
  DISCARDED: 'gray',
};

export const DeliveryStatus = ({ status }: { status: WebhookDelivery['status'] }) => (
  <Badge color={colors[status]}>{t.webhooks.deliveryStatuses[status]}</Badge>
);

/** A time that has passed means that the delivery waits for its turn. */
export const NextAttempt = ({ at, exact = false }: { at: string | null; exact?: boolean }) =>
  at !== null && new Date(at) < new Date() ? t.webhooks.due : <Time at={at} exact={exact} />;
