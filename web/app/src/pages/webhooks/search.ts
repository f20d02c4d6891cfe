import type { WebhookDelivery } from '../../api/types.ts';
import { compact, oneOf, type RawSearch, textOf } from '../../search-params.ts';

export const deliveryStatuses = [
  'PENDING',
  'DELIVERED',
  'FAILED',
  'DISCARDED',
] as const satisfies WebhookDelivery['status'][];

export interface DeliveriesSearch {
  status?: WebhookDelivery['status'] | undefined;
  type?: string | undefined;
}

export const webhookSearch = (raw: RawSearch): DeliveriesSearch =>
  compact({ status: oneOf(raw.status, ...deliveryStatuses), type: textOf(raw.type) });
