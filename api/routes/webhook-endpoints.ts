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
  endpointSecretSchema,
  endpointWithSecretSchema,
  presentDelivery,
  presentEndpoint,
  presentEndpointWithSecret,
  recoveredSchema,
  typesSchema,
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
          : refuse(helpers, 'invalid_enum', 'is no type of webhook; GET /webhook-endpoints/types lists them'),
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
  url: url(),
  types: list(typePattern(), { min: 1, max: MAX_TYPES }),
  description: optional(nullable(text({ min: 0, max: 500 }))),
  headers: optional(nullable(headers())),
  ratePerSecond: optional(nullable(wholeNumber({ min: 1, max: 1_000 }))),
  enabled: optional(flag()),
};

const params = { id: uuid() };
const noEndpoint = missing('webhook endpoint');
const disabled = failure('The endpoint is disabled; the message says why.', 'CONFLICT');
const notCallable = failure('The URL is no http or https URL, or leads to a private address.', 'BAD_REQUEST');
const base = { access: 'secretKey', role: 'ADMIN' } as const;

export const webhookEndpoints = routes('Webhooks', [
  route({
    ...base,
    method: 'GET',
    scope: 'webhooks:read',
    path: '/webhook-endpoints',
    summary: 'List the webhook endpoints, oldest first',
    answers: { 200: answer('The endpoints.', list(endpointSchema)) },
    handle: async ({ db, project }) => ok((await listEndpoints(db, project.projectId)).map(presentEndpoint)),
  }),
  route({
    ...base,
    method: 'GET',
    scope: 'webhooks:read',
    path: '/webhook-endpoints/types',
    summary: 'List the types of webhooks',
    answers: { 200: answer('The types.', typesSchema) },
    handle: () => ok({ types: webhookTypes }),
  }),
  route({
    ...base,
    method: 'POST',
    scope: 'webhooks:write',
    path: '/webhook-endpoints',
    summary: 'Add an endpoint; the answer is the only one with its secret, besides those of rotation and …/secret',
    body: endpointShape,
    answers: {
      201: answer('The endpoint.', endpointWithSecretSchema),
      400: notCallable,
      409: failure('The project has the most endpoints allowed.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, body }) =>
      created(presentEndpointWithSecret(await createEndpoint(db, project, body, settings))),
  }),
  route({
    ...base,
    method: 'GET',
    scope: 'webhooks:read',
    path: '/webhook-endpoints/:id',
    summary: 'Get an endpoint',
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
    summary: 'Change an endpoint; enabling it continues what was queued',
    params,
    body: { ...endpointShape, url: optional(endpointShape.url), types: optional(endpointShape.types) },
    answers: { 200: answer('The endpoint.', endpointSchema), 400: notCallable, 404: noEndpoint },
    handle: async ({ db, project, settings, params: { id }, body }) =>
      ok(presentEndpoint(await updateEndpoint(db, project, id, body, settings))),
  }),
  route({
    ...base,
    method: 'DELETE',
    scope: 'webhooks:write',
    path: '/webhook-endpoints/:id',
    summary: 'Delete an endpoint; what it has not received is discarded',
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
    summary: 'Get the secret that signs the requests (Standard Webhooks)',
    confirmed: true,
    params,
    answers: { 200: answer('The secret.', endpointSecretSchema), 404: noEndpoint },
    handle: async ({ db, project, settings, params: { id } }) =>
      ok({ secret: await endpointSecret(db, project.projectId, id, settings.secretKeys) }),
  }),
  route({
    ...base,
    method: 'POST',
    scope: 'webhooks:write',
    path: '/webhook-endpoints/:id/rotate-secret',
    summary: 'Replace the secret; the old one signs too for some hours, a day by default',
    confirmed: true,
    params,
    body: { overlapHours: optional(wholeNumber({ min: 0, max: MAX_OVERLAP_HOURS })) },
    answers: {
      200: answer('The endpoint with its new secret.', endpointWithSecretSchema),
      404: noEndpoint,
      409: failure('Ten earlier secrets still sign.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, params: { id }, body: { overlapHours = 24 } }) =>
      ok(presentEndpointWithSecret(await rotateEndpointSecret(db, project, id, overlapHours, settings.secretKeys))),
  }),
  route({
    ...base,
    method: 'POST',
    scope: 'webhooks:write',
    path: '/webhook-endpoints/:id/test',
    summary: 'Send webhook.test to the endpoint',
    params,
    answers: { 202: answer('It will be sent.', deliveryIdSchema), 404: noEndpoint, 409: disabled },
    handle: async ({ db, project, params: { id } }) => accepted({ deliveryId: await testEndpoint(db, project, id) }),
  }),
  route({
    ...base,
    method: 'POST',
    scope: 'webhooks:write',
    path: '/webhook-endpoints/:id/recover',
    summary: 'Send again what failed in a range of time, and what happened while the endpoint was disabled',
    params,
    statementTimeoutMs: 60_000,
    body: { since: dateTime(), until: optional(dateTime()) },
    answers: { 202: answer('How many deliveries are made again.', recoveredSchema), 404: noEndpoint, 409: disabled },
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
    summary: 'List the deliveries of an endpoint of the last 30 days, newest first',
    params,
    query: {
      ...cursorPage(),
      status: optional(oneOf(...deliveryStatuses)),
      type: optional(text({ max: MAX_TYPE_LENGTH })),
      since: optional(rangeMoment()),
    },
    answers: { 200: answer('A page of deliveries.', cursorListSchema(deliverySchema)), 404: noEndpoint },
    handle: async ({ db, project, settings, params: { id }, query }) =>
      ok(
        presentCursorList(await listDeliveries(db, project.projectId, id, settings.secretKeys, query), presentDelivery),
      ),
  }),
]);
