import { Badge } from '@mantine/core';
import type { WebhookDelivery, WebhookEndpoint } from '../../api/types.ts';
import { t } from '../../texts/index.ts';

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
