import joi from 'joi';
import { SIGNATURE_HEADERS } from '../../platform/crypto/standard-webhooks.ts';
import { badRequest, validationError } from '../../platform/errors.ts';
import { TRANSPORT_HEADERS } from '../../platform/http/outbound-http.ts';
import { isWithinYears, YEARS_RULE } from '../../services/range.ts';
import {
  deliveryStatuses,
  listDeliveries,
  recoverDeliveries,
  testEndpoint,
} from '../../services/webhooks/deliveries.ts';
import {
  createEndpoint,
  deleteEndpoint,
  endpointSecret,
  findEndpoint,
  HIDDEN_VALUE,
  listEndpoints,
  rotateEndpointSecret,
  updateEndpoint,
} from '../../services/webhooks/endpoints.ts';
import { isTypePattern, webhookTypes } from '../../services/webhooks/types.ts';
import { hasCredentials } from '../../services/webhooks/url-credentials.ts';
import { accepted, answer, created, failure, missing, noContent, ok } from '../http/answers.ts';
import { rangeMoment } from '../http/range.ts';
import { route, routes } from '../http/route.ts';
import {
  cursorPage,
  dateTime,
  flag,
  line,
  list,
  nullable,
  oneOf,
  optional,
  request,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented, refuse } from '../http/violations.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import {
  deliveryIdSchema,
  deliverySchema,
  endpointSchema,
  endpointWithSecretSchema,
  presentDelivery,
  presentEndpoint,
  presentEndpointWithSecret,
  recoveredSchema,
  typesSchema,
  webhookSecretSchema,
} from '../presenters/webhook.ts';

const MAX_TYPES = 50;
const MAX_URL = 2_000;
const MAX_HEADERS = 20;
const MAX_HEADER_VALUE = 998;
const MAX_OVERLAP_HOURS = 168;
/** `event.` with the longest name of an event. */
export const MAX_TYPE_LENGTH = 261;

/** Header names (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const OWN_HEADERS = ['content-type', 'user-agent', ...SIGNATURE_HEADERS, ...TRANSPORT_HEADERS];

const typePattern = (): Typed<string> =>
  documented(
    joi
      .string()
      .max(MAX_TYPE_LENGTH)
      .custom((pattern: string, helpers) =>
        isTypePattern(pattern)
          ? pattern
          : refuse(helpers, 'invalid_enum', 'is not a webhook type; GET /webhook-endpoints/types lists them'),
      )
      .required(),
    { pattern: '^(\\*|[a-z]+\\.[\\s\\S]+)$' },
  ).example('email.*');

const headers = (): Typed<Record<string, string>> =>
  joi
    .object()
    .pattern(TOKEN, line({ min: 0, max: MAX_HEADER_VALUE }))
    .max(MAX_HEADERS)
    .unknown(false)
    // Unknown keys are those that are no header name: an error here, not dropped.
    .options({ stripUnknown: false, allowUnknown: false })
    .custom((given: Record<string, string>, helpers) =>
      Object.keys(given).some((name) => OWN_HEADERS.includes(name.toLowerCase()))
        ? refuse(helpers, 'custom', `must not contain ${OWN_HEADERS.join(', ')}`)
        : given,
    )
    .required();

const url = (): Typed<string> =>
  documented(
    (text({ max: MAX_URL }) as joi.StringSchema).custom((value: string, helpers) =>
      hasCredentials(value)
        ? refuse(helpers, 'custom', 'must not contain a user name or password; send them in "headers"')
        : value,
    ),
    { pattern: '^(?!https?://[^/?#]*@)' },
  );

const endpointShape = {
  url: url()
    .description('HTTP or HTTPS URL that receives the webhooks, without user name or password.')
    .example('https://app.example/hook'),
  types: list(typePattern(), { min: 1, max: MAX_TYPES }).description(
    'Webhook types to receive, at most 50: names, prefixes such as `email.*`, or `*` for all but tracked events (`event.*`).',
  ),
  description: optional(nullable(text({ min: 0, max: 500 }))).description('Description.'),
  headers: optional(nullable(headers()))
    .description('Headers to send with each request, at most 20. Values are never shown.')
    .example({ Authorization: 'Bearer secret' }),
  ratePerSecond: optional(nullable(wholeNumber({ min: 1, max: 1_000 }))).description(
    'Maximum deliveries per second; null for no limit.',
  ),
  enabled: optional(flag()).description('Whether to deliver webhooks; true by default.'),
};

const params = { id: uuid().description('Webhook endpoint ID.') };
const noEndpoint = missing('webhook endpoint');
const disabled = failure('The endpoint is disabled; the message says why.', 'CONFLICT');
const notCallable = failure('The URL is not an HTTP or HTTPS URL, or leads to a private address.', 'BAD_REQUEST');
const base = { access: 'secretKey', role: 'ADMIN' } as const;

export const webhookEndpoints = routes('Webhooks', [
  route({
    ...base,
    method: 'GET',
    scope: 'webhooks:read',
    path: '/webhook-endpoints',
    summary: 'List webhook endpoints, oldest first',
    answers: { 200: answer('The endpoints.', list(endpointSchema)) },
    handle: async ({ db, project }) => ok((await listEndpoints(db, project.projectId)).map(presentEndpoint)),
  }),
  route({
    ...base,
    method: 'GET',
    scope: 'webhooks:read',
    path: '/webhook-endpoints/types',
    summary: 'List webhook types',
    answers: { 200: answer('The types.', typesSchema) },
    handle: () => ok({ types: webhookTypes }),
  }),
  route({
    ...base,
    method: 'POST',
    scope: 'webhooks:write',
    path: '/webhook-endpoints',
    summary: 'Create a webhook endpoint',
    body: request('CreateWebhookEndpointRequest', 'A webhook endpoint to create.', endpointShape),
    answers: {
      201: answer('The endpoint with its secret.', endpointWithSecretSchema),
      400: notCallable,
      409: failure('The project has the maximum number of endpoints.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, body }) =>
      created(presentEndpointWithSecret(await createEndpoint(db, project, body, settings))),
  }),
  route({
    ...base,
    method: 'GET',
    scope: 'webhooks:read',
    path: '/webhook-endpoints/:id',
    summary: 'Get a webhook endpoint',
    params,
    answers: { 200: answer('The endpoint.', endpointSchema), 404: noEndpoint },
    handle: async ({ db, project, params: { id } }) =>
      ok(presentEndpoint(await findEndpoint(db, project.projectId, id))),
  }),
  route({
    ...base,
    method: 'PATCH',
    scope: 'webhooks:write',
    path: '/webhook-endpoints/:id',
    summary: 'Update a webhook endpoint; enabling it resumes queued deliveries',
    params,
    body: request('UpdateWebhookEndpointRequest', 'The changes; fields that are left out stay as they are.', {
      ...endpointShape,
      url: optional(endpointShape.url),
      types: optional(endpointShape.types),
      description: endpointShape.description.description('New description; null removes it.'),
      headers: endpointShape.headers.description(
        `Headers to send with each request, at most 20; replaces all. The value \`${HIDDEN_VALUE}\` keeps the stored one.`,
      ),
      enabled: endpointShape.enabled.description('Whether to deliver webhooks.'),
    }),
    answers: { 200: answer('The updated endpoint.', endpointSchema), 400: notCallable, 404: noEndpoint },
    handle: async ({ db, project, settings, params: { id }, body }) =>
      ok(presentEndpoint(await updateEndpoint(db, project, id, body, settings))),
  }),
  route({
    ...base,
    method: 'DELETE',
    scope: 'webhooks:write',
    path: '/webhook-endpoints/:id',
    summary: 'Delete a webhook endpoint and discard its pending deliveries',
    params,
    answers: { 204: answer('Deleted.'), 404: noEndpoint },
    handle: async ({ db, project, params: { id } }) => {
      await deleteEndpoint(db, project, id);
      return noContent();
    },
  }),
  route({
    ...base,
    method: 'GET',
    scope: 'webhooks:write',
    path: '/webhook-endpoints/:id/secret',
    summary: 'Get the signing secret of a webhook endpoint (Standard Webhooks)',
    confirmed: true,
    params,
    answers: { 200: answer('The secret.', webhookSecretSchema), 404: noEndpoint },
    handle: async ({ db, project, settings, params: { id } }) =>
      ok({ secret: await endpointSecret(db, project.projectId, id, settings.secretKeys) }),
  }),
  route({
    ...base,
    method: 'POST',
    scope: 'webhooks:write',
    path: '/webhook-endpoints/:id/rotate-secret',
    summary: 'Rotate the signing secret of a webhook endpoint',
    confirmed: true,
    params,
    body: request('RotateEndpointSecretRequest', 'How to rotate the secret.', {
      overlapHours: optional(wholeNumber({ min: 0, max: MAX_OVERLAP_HOURS })).description(
        'How long requests are also signed with the old secret, in hours; at most 168, 24 by default.',
      ),
    }),
    answers: {
      200: answer('The endpoint with its new secret.', endpointWithSecretSchema),
      404: noEndpoint,
      409: failure('Ten earlier secrets are still in use.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, params: { id }, body: { overlapHours = 24 } }) =>
      ok(presentEndpointWithSecret(await rotateEndpointSecret(db, project, id, overlapHours, settings.secretKeys))),
  }),
  route({
    ...base,
    method: 'POST',
    scope: 'webhooks:write',
    path: '/webhook-endpoints/:id/test',
    summary: 'Send a test webhook to an endpoint',
    params,
    answers: {
      202: answer('The `webhook.test` delivery was queued.', deliveryIdSchema),
      404: noEndpoint,
      409: disabled,
    },
    handle: async ({ db, project, params: { id } }) => accepted({ deliveryId: await testEndpoint(db, project, id) }),
  }),
  route({
    ...base,
    method: 'POST',
    scope: 'webhooks:write',
    path: '/webhook-endpoints/:id/recover',
    summary: 'Redeliver failed webhooks, and those missed while the endpoint was disabled',
    params,
    statementTimeoutMs: 60_000,
    body: request(
      'RecoverDeliveriesRequest',
      'The time range to recover; deliveries older than 30 days are left out.',
      {
        since: dateTime().description('Start of the range.'),
        until: optional(dateTime()).description('End of the range; now by default.'),
      },
    ),
    answers: { 202: answer('The deliveries were queued.', recoveredSchema), 404: noEndpoint, 409: disabled },
    handle: async ({ db, project, params: { id }, body: { since, until } }) => {
      const range = { since: new Date(since), until: until === undefined ? undefined : new Date(until) };
      for (const [name, at] of Object.entries(range))
        if (at && !isWithinYears(at)) throw badRequest(`"${name}" ${YEARS_RULE}.`);
      if (range.until && range.until < range.since)
        throw validationError([
          { field: 'until', message: '"until" must not be before "since"', code: 'too_small', received: until },
        ]);
      return accepted({ count: await recoverDeliveries(db, project, id, range) });
    },
  }),
  route({
    ...base,
    method: 'GET',
    scope: 'webhooks:read',
    path: '/webhook-endpoints/:id/deliveries',
    summary: 'List the deliveries of an endpoint, newest first, for 30 days',
    params,
    query: {
      ...cursorPage(),
      status: optional(oneOf(...deliveryStatuses)).description('Only deliveries with this status.'),
      type: optional(text({ max: MAX_TYPE_LENGTH }))
        .description('Only webhooks of this type.')
        .example('email.sent'),
      since: optional(rangeMoment()).description('Only deliveries created at or after this day or time.'),
    },
    answers: { 200: answer('A page of deliveries.', cursorListSchema(deliverySchema)), 404: noEndpoint },
    handle: async ({ db, project, settings, params: { id }, query }) =>
      ok(
        presentCursorList(await listDeliveries(db, project.projectId, id, settings.secretKeys, query), presentDelivery),
      ),
  }),
]);
