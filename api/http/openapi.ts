import joi from 'joi';
import type { DeclaredAnswer } from './answers.ts';
import { describeDocument } from './openapi-describe.ts';
import { tagTexts } from './openapi-field-texts.ts';
import { answerSchemaOf, jsonSchemaOf } from './openapi-schema.ts';
import {
  errorResponses,
  idempotencyKey,
  isRateLimited,
  type OpenApiDocument,
  type Responses,
  rateLimitHeaders,
  sharedComponents,
  takesMembers,
  takesSession,
} from './openapi-shared.ts';
import { openApiWebhooks } from './openapi-webhooks.ts';
import { neededRole, type Route, type RouteGroup } from './route.ts';
import type { Shape } from './typed.ts';

const security = {
  publicKey: [{ publicKey: [] }],
  secretKey: [{ secretKey: [] }],
  session: [{ session: [] }],
  projectSession: [{ session: [], project: [] }],
  member: [{ session: [] }],
  operator: [{ session: [] }],
  memberOrKey: [{ secretKey: [] }, { session: [] }],
  public: [],
};

const projectInQuery = joi.string().guid().description('The project of a session, instead of X-Project-Id.');

/** Builds the OpenAPI document from the route declarations. */
export const openApiOf = (groups: RouteGroup[]): OpenApiDocument => describeDocument(undescribedOpenApiOf(groups));

/** Leaves out the descriptions and examples of fields. */
export function undescribedOpenApiOf(groups: RouteGroup[]): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const { tag, routes } of groups)
    for (const route of routes) {
      const path = route.path.replace(/:(\w+)/g, '{$1}');
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, tag) };
    }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Everpost',
      version: '1',
      description: 'A multi-tenant e-mail platform: contacts, events, transactional mail, campaigns and workflows.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(groups.map(({ tag }) => tag))].map((name) => ({
      name,
      description: tagTexts[name] ?? '',
    })),
    paths,
    webhooks: openApiWebhooks(),
    components: sharedComponents,
  };
}

function operationOf(route: Route, tag: string): object {
  const { method, path, summary, params, query, access } = route;
  const requestBody = requestBodyOf(route);
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[^A-Za-z0-9]+(\w?)/g, (_all, letter: string) => letter.toUpperCase())}`,
    summary,
    tags: [tag],
    security: takesSession(route) ? [...security.secretKey, { session: [], project: [] }] : security[access],
    'x-access': access,
    ...(takesMembers(route) && { 'x-role': neededRole(route) }),
    ...(route.scope && { 'x-scope': route.scope }),
    ...(route.alsoScope && { 'x-also-scope': alsoScopeOf(route.alsoScope) }),
    parameters: [
      ...parametersOf('path', params),
      ...parametersOf('query', { ...query, ...(route.projectInQuery && { projectId: projectInQuery }) }),
      ...idempotencyHeaderOf(route),
    ],
    ...(requestBody && { requestBody }),
    responses: responsesOf(route),
  };
}

const alsoScopeOf = ({ scope, for: some }: NonNullable<Route['alsoScope']>): object => ({
  scope,
  ...(some && { for: some.description }),
});

/** Routes that declare IDEMPOTENCY_KEY_REUSED accept an Idempotency-Key. */
const idempotencyHeaderOf = ({ answers }: Route): object[] =>
  answers[409]?.code === 'IDEMPOTENCY_KEY_REUSED' ? [idempotencyKey] : [];

function parametersOf(location: 'path' | 'query', shape: Shape = {}): object[] {
  return Object.entries(shape).map(([name, schema]) => ({
    name,
    in: location,
    required: location === 'path' || isRequired(schema),
    schema: jsonSchemaOf(schema),
  }));
}

const isRequired = (schema: joi.Schema): boolean =>
  (schema.describe() as { flags?: { presence?: string } }).flags?.presence === 'required';

const mediaTypes = { form: 'application/x-www-form-urlencoded', raw: '*/*' };

function requestBodyOf({ body, bodyKind, multipart }: Route): object | undefined {
  if (!body && !multipart) return undefined;
  const schema = body
    ? jsonSchemaOf(joi.isSchema(body) ? body : joi.object(body as joi.SchemaMap))
    : { type: 'object' };
  const type = bodyKind ? mediaTypes[bodyKind] : 'application/json';
  if (!multipart) return { required: true, content: { [type]: { schema } } };
  const files = Object.fromEntries(multipart.files.map((name) => [name, { type: 'string', format: 'binary' }]));
  const fields = (schema as { properties?: object }).properties;
  const required = multipart.files.map((name) => ({ required: [name] }));
  const form = {
    ...schema,
    properties: { ...fields, ...files },
    ...(required.length > 1 ? { anyOf: required } : required[0]),
  };
  return { required: true, content: { 'multipart/form-data': { schema: form } } };
}

function responsesOf(route: Route): Responses {
  const headers = isRateLimited(route) ? rateLimitHeaders : {};
  const shared = errorResponses(route, headers);
  const declared = Object.entries(route.answers).map(([status, answer]) => [
    status,
    responseOf(Number(status), answer, { ...headersOf(shared[status]), ...(status === '401' ? {} : headers) }, route),
  ]);
  return { ...shared, ...Object.fromEntries(declared) };
}

const headersOf = (response: object | undefined): object =>
  (response as { headers?: object } | undefined)?.headers ?? {};

/** A body that is no JSON and a session without a project are refused before the route's own rules, in the envelope. */
const mayBeEnveloped = (route: Route, status: number): boolean =>
  status === 400 && (route.body !== undefined || takesSession(route));

function responseOf(status: number, answer: DeclaredAnswer, headers: object, route: Route): object {
  const { description, schema, contentType, code, plain, orError } = answer;
  const content = plain
    ? mayBeEnveloped(route, status)
      ? { anyOf: [{ $ref: '#/components/schemas/PlainError' }, errorSchema] }
      : { $ref: '#/components/schemas/PlainError' }
    : code
      ? errorSchema
      : schema
        ? answerSchemaOf(schema)
        : contentType && { type: 'string' };
  const codes = code ?? orError;
  return {
    description: codes ? `${description} (\`${codes}\`)` : description,
    headers: {
      ...headers,
      ...(status >= 300 && status < 400 && { Location: { $ref: '#/components/headers/Location' } }),
      ...(status === 429 && { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }),
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
    },
    ...(content && {
      content: {
        [contentType ?? 'application/json']: { schema: content },
        ...(orError && { 'application/json': { schema: errorSchema } }),
      },
    }),
  };
}

const errorSchema = { $ref: '#/components/schemas/Error' };
