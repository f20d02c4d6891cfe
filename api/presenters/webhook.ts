import joi from 'joi';
import type { WebhookEndpoint } from '../../db/models/webhook-endpoint.ts';
import { type Delivery, type DeliveryWithPayload, deliveryStatuses } from '../../services/webhooks/deliveries.ts';
import { type EndpointWithSecret, HIDDEN_VALUE } from '../../services/webhooks/endpoints.ts';
import { shownUrl } from '../../services/webhooks/url-credentials.ts';
import {
  dateTime,
  flag,
  list,
  namedType,
  nullable,
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
    .required()
    .description('Signing secret, for verifying `webhook-signature` (Standard Webhooks).');

const endpointShape = {
  id: uuid().description('Webhook endpoint ID.'),
  projectId: uuid().description('Project ID.'),
  url: text().description('URL that receives the webhooks.').example('https://app.example/hook'),
  description: nullable(text({ min: 0 })).description('Description; null if there is none.'),
  types: list(text(), { min: 1 })
    .description('Webhook types it receives: names, prefixes such as `email.*`, or `*`.')
    .example(['email.*']),
  headers: record()
    .description(`Custom request headers by name. Values are hidden: each is \`${HIDDEN_VALUE}\`.`)
    .example({ Authorization: HIDDEN_VALUE }),
  ratePerSecond: nullable(wholeNumber({ min: 1 })).description('Maximum deliveries per second; null for no limit.'),
  enabled: flag().description('Whether webhooks are delivered.'),
  disabledReason: nullable(oneOf('gone', 'failing')).description(
    'Why the endpoint was disabled automatically. `gone`: it answered 410. `failing`: all attempts failed for five days. null if it is enabled, or was disabled by a member or key.',
  ),
  failingSince: nullable(dateTime()).description(
    'When the current run of failed attempts began; null if the endpoint is not failing.',
  ),
  createdAt: dateTime().description('When the endpoint was created.'),
  updatedAt: dateTime().description('When the endpoint was last updated.'),
};

export const endpointSchema = namedType('WebhookEndpoint', 'A URL that receives webhooks.', endpointShape);
export const endpointWithSecretSchema = namedType(
  'WebhookEndpointWithSecret',
  'A webhook endpoint with its signing secret.',
  { ...endpointShape, secret: secret() },
);
export const webhookSecretSchema = namedType('WebhookSecret', 'A secret that signs webhooks.', { secret: secret() });

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

const webhookTypeSchema = namedType('WebhookType', 'A type of webhook.', {
  type: text()
    .description('Type name; `<slug>` and `<name>` stand for the slug of a segment and the name of an event.')
    .example('email.sent'),
  description: text().description('When webhooks of the type are sent.'),
});

export const typesSchema = namedType('WebhookTypeCatalog', 'The types of webhooks.', {
  types: list(webhookTypeSchema).description('All types.'),
});

const count = () => wholeNumber({ min: 0 });

const webhookType = () => text().description('Webhook type.').example('email.sent');

const deliveryShape = {
  id: uuid().description('Delivery ID.'),
  endpointId: uuid().description('Webhook endpoint ID.'),
  eventId: uuid().description('ID of the webhook event, sent as `webhook-id`; the same for every attempt and replay.'),
  type: webhookType(),
  status: oneOf(...deliveryStatuses).description(
    'Delivery status. DISCARDED: not delivered before the endpoint was deleted or 30 days had passed.',
  ),
  attempts: count().description('Number of attempts made.'),
  nextAttemptAt: nullable(dateTime()).description('When the next attempt is due; null if none is scheduled.'),
  lastStatusCode: nullable(wholeNumber()).description(
    'HTTP status of the last attempt; null if there was no response or no attempt yet.',
  ),
  lastError: nullable(text()).description('Error of the last attempt; null if it succeeded or there was none yet.'),
  createdAt: dateTime().description('When the delivery was created.'),
  deliveredAt: nullable(dateTime()).description('When the webhook was delivered; null until then.'),
};

export const deliverySchema = namedType('WebhookDelivery', 'A webhook for one endpoint.', deliveryShape);

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

const payloadSchema = namedType('WebhookPayload', 'The body of a webhook request.', {
  type: webhookType(),
  timestamp: dateTime().description('When it happened.'),
  data: record().description('Data, depending on the type.'),
  truncated: optional(flag()).description('Set if the payload was over 20 kB and its largest values were emptied.'),
});

const attemptSchema = namedType('WebhookAttempt', 'One attempt to deliver a webhook.', {
  number: wholeNumber({ min: 1 }).description('Number of the attempt, from 1.'),
  startedAt: dateTime().description('When the attempt started.'),
  durationMs: count().description('Duration in milliseconds.'),
  statusCode: nullable(wholeNumber()).description('HTTP status; null if there was no response.'),
  error: nullable(text()).description('What went wrong; null if the attempt succeeded.'),
  answer: nullable(text()).description(
    'First 1,000 characters of the response body; null if it was empty, there was no response, or the contact was deleted.',
  ),
});

export const wholeDeliverySchema = namedType('WebhookDeliveryDetails', 'A delivery with its payload and attempts.', {
  ...deliveryShape,
  payload: payloadSchema.description('The payload.'),
  attemptLog: list(attemptSchema).description('The last 50 attempts, oldest first.'),
});

export const presentWholeDelivery = (delivery: DeliveryWithPayload) => ({
  ...presentDelivery(delivery),
  payload: delivery.payload,
  attemptLog: delivery.attemptLog,
});

export const deliveryIdSchema = namedType('QueuedDelivery', 'A webhook delivery that was queued.', {
  deliveryId: uuid().description('Delivery ID.'),
});
export const recoveredSchema = namedType('DeliveryRecovery', 'The result of recovering deliveries.', {
  count: count().description('Number of deliveries queued again.'),
});
