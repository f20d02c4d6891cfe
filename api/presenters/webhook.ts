import joi from 'joi';
import type { WebhookEndpoint } from '../../db/models/webhook-endpoint.ts';
import { type Delivery, type DeliveryWithPayload, deliveryStatuses } from '../../services/webhooks/deliveries.ts';
import { type EndpointWithSecret, HIDDEN_VALUE } from '../../services/webhooks/endpoints.ts';
import { shownUrl } from '../../services/webhooks/url-credentials.ts';
import {
  dateTime,
  flag,
  list,
  nullable,
  object,
  oneOf,
  optional,
  record,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';

const secret = (): Typed<string> =>
  joi
    .string()
    .pattern(/^whsec_/)
    .required();

const endpointShape = {
  id: uuid(),
  projectId: uuid(),
  url: text(),
  description: nullable(text({ min: 0 })),
  types: list(text(), { min: 1 }),
  /** The values are hidden. */
  headers: record(),
  ratePerSecond: nullable(wholeNumber({ min: 1 })),
  enabled: flag(),
  /** Null where a person disabled it. */
  disabledReason: nullable(oneOf('gone', 'failing')),
  failingSince: nullable(dateTime()),
  createdAt: dateTime(),
  updatedAt: dateTime(),
};

export const endpointSchema = object(endpointShape);
export const endpointWithSecretSchema = object({ ...endpointShape, secret: secret() });
export const endpointSecretSchema = object({ secret: secret() });

export const presentEndpoint = (endpoint: WebhookEndpoint) => ({
  id: endpoint.id,
  projectId: endpoint.projectId,
  url: shownUrl(endpoint.url),
  description: endpoint.description,
  types: endpoint.types,
  headers: Object.fromEntries(endpoint.headerNames.map((name) => [name, HIDDEN_VALUE])),
  ratePerSecond: endpoint.ratePerSecond,
  enabled: endpoint.enabled,
  disabledReason: endpoint.disabledReason,
  failingSince: endpoint.failingSince?.toISOString() ?? null,
  createdAt: endpoint.createdAt.toISOString(),
  updatedAt: endpoint.updatedAt.toISOString(),
});

export const presentEndpointWithSecret = ({ endpoint, secret }: EndpointWithSecret) => ({
  ...presentEndpoint(endpoint),
  secret,
});

export const typesSchema = object({ types: list(object({ type: text(), description: text() })) });

const count = () => wholeNumber({ min: 0 });

const deliveryShape = {
  id: uuid(),
  endpointId: uuid(),
  eventId: uuid(),
  type: text(),
  status: oneOf(...deliveryStatuses),
  attempts: count(),
  nextAttemptAt: nullable(dateTime()),
  lastStatusCode: nullable(wholeNumber()),
  lastError: nullable(text()),
  createdAt: dateTime(),
  deliveredAt: nullable(dateTime()),
};

export const deliverySchema = object(deliveryShape);

export const presentDelivery = (delivery: Delivery) => ({
  id: delivery.id,
  endpointId: delivery.endpointId,
  eventId: delivery.eventId,
  type: delivery.type,
  status: delivery.status,
  attempts: delivery.attempts,
  nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
  lastStatusCode: delivery.lastStatusCode,
  lastError: delivery.lastError,
  createdAt: delivery.createdAt.toISOString(),
  deliveredAt: delivery.deliveredAt?.toISOString() ?? null,
});

export const wholeDeliverySchema = object({
  ...deliveryShape,
  payload: object({ type: text(), timestamp: dateTime(), data: record(), truncated: optional(flag()) }),
  attemptLog: list(
    object({
      number: wholeNumber({ min: 1 }),
      startedAt: dateTime(),
      durationMs: count(),
      statusCode: nullable(wholeNumber()),
      error: nullable(text()),
      answer: nullable(text()),
    }),
  ),
});

export const presentWholeDelivery = (delivery: DeliveryWithPayload) => ({
  ...presentDelivery(delivery),
  payload: delivery.payload,
  attemptLog: delivery.attemptLog,
});

export const deliveryIdSchema = object({ deliveryId: uuid() });
export const recoveredSchema = object({ count: count() });
