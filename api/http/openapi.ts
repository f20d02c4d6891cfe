import joi from 'joi';
import type { DeclaredAnswer } from './answers.ts';
import { conditionSchemas } from './condition-schema.ts';
import { type JsonSchema, JsonSchemas, referenceTo } from './json-schema.ts';
import { describeDocument } from './openapi-describe.ts';
import { tagTexts } from './openapi-field-texts.ts';
import {
  errorExample,
  errorResponses,
  headersOf,
  idempotencyKey,
  isRateLimited,
  type OpenApiDocument,
  type Responses,
  securitySchemes,
  sharedHeaders,
  sharedResponses,
  sharedSchemas,
  takesMembers,
  takesSession,
} from './openapi-shared.ts';
import { openApiWebhooks } from './openapi-webhooks.ts';
import { type Multipart, neededRole, type Route, type RouteGroup } from './route.ts';
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
export function openApiOf(groups: RouteGroup[]): OpenApiDocument {
  const schemas = new JsonSchemas({ ...sharedSchemas, ...conditionSchemas });
  const paths: OpenApiDocument['paths'] = {};
  for (const { tag, routes } of groups)
    for (const route of routes) {
      const path = route.path.replace(/:(\w+)/g, '{$1}');
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, tag, schemas) };
    }
  const webhooks = openApiWebhooks(schemas);
  return describeDocument({
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
    webhooks,
    components: {
      schemas: sortedByName(schemas.components),
      headers: sharedHeaders,
      responses: sharedResponses,
      securitySchemes,
    },
  });
}

const sortedByName = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

function operationOf(route: Route, tag: string, schemas: JsonSchemas): object {
  const { method, path, summary, params, query, access } = route;
  const requestBody = requestBodyOf(route, schemas);
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
      ...parametersOf('path', params, schemas),
      ...parametersOf('query', { ...query, ...(route.projectInQuery && { projectId: projectInQuery }) }, schemas),
      ...idempotencyHeaderOf(route),
    ],
    ...(requestBody && { requestBody }),
    responses: responsesOf(route, schemas),
  };
}

const alsoScopeOf = ({ scope, for: some }: NonNullable<Route['alsoScope']>): object => ({
  scope,
  ...(some && { for: some.description }),
});

/** Routes that declare IDEMPOTENCY_KEY_REUSED accept an Idempotency-Key. */
const idempotencyHeaderOf = ({ answers }: Route): object[] =>
  answers[409]?.code === 'IDEMPOTENCY_KEY_REUSED' ? [idempotencyKey] : [];

function parametersOf(location: 'path' | 'query', shape: Shape = {}, schemas: JsonSchemas): object[] {
  return Object.entries(shape).map(([name, field]) => {
    const { description, ...schema } = schemas.of(field, 'request');
    const required = location === 'path' || isRequired(field);
    return { name, in: location, required, ...(description !== undefined && { description }), schema };
  });
}

const isRequired = (schema: joi.Schema): boolean =>
  (schema.describe() as { flags?: { presence?: string } }).flags?.presence === 'required';

const mediaTypes = { form: 'application/x-www-form-urlencoded', raw: '*/*' };

function requestBodyOf({ body, bodyKind, multipart }: Route, schemas: JsonSchemas): object | undefined {
  if (!body && !multipart) return undefined;
  const given = joi.isSchema(body) ? body : joi.object((body ?? {}) as joi.SchemaMap);
  const schema = schemas.of(given, 'request');
  const type = bodyKind ? mediaTypes[bodyKind] : 'application/json';
  return {
    required: true,
    content: multipart
      ? { 'multipart/form-data': { schema: formOf(multipart, schema, schemas) } }
      : { [type]: { schema } },
  };
}

/** A form with the files besides its fields. One of the files is required. */
function formOf({ name, description, files }: Multipart, fields: JsonSchema, schemas: JsonSchemas): JsonSchema {
  const required = Object.keys(files).map((file) => ({ required: [file] }));
  const parts = Object.entries(files).map(([file, text]) => [
    file,
    { description: text, type: 'string', format: 'binary' },
  ]);
  return schemas.define(name, {
    description,
    ...fields,
    properties: { ...(fields.properties as object), ...Object.fromEntries(parts) },
    ...(required.length > 1 ? { anyOf: required } : required[0]),
  });
}

function responsesOf(route: Route, schemas: JsonSchemas): Responses {
  const declared = Object.entries(route.answers).map(([status, answer]) => [
    status,
    responseOf(Number(status), answer, route, schemas),
  ]);
  return { ...errorResponses(route), ...Object.fromEntries(declared) };
}

/** A body that is no JSON and a session without a project are refused before the route's own rules, in the envelope. */
const mayBeEnveloped = (route: Route, status: number): boolean =>
  status === 400 && (route.body !== undefined || takesSession(route));

function responseOf(status: number, answer: DeclaredAnswer, route: Route, schemas: JsonSchemas): object {
  const { description, contentType, code, orError } = answer;
  const content = contentOf(status, answer, route, schemas);
  const codes = code ?? orError;
  return {
    description: codes ? `${description} (\`${codes}\`)` : description,
    headers: headersOf(status, isRateLimited(route)),
    ...(content && {
      content: {
        [contentType ?? 'application/json']: content,
        ...(orError && {
          'application/json': { schema: referenceTo('Error'), example: errorExample(status, orError, description) },
        }),
      },
    }),
  };
}

function contentOf(
  status: number,
  { description, schema, contentType, code, plain }: DeclaredAnswer,
  route: Route,
  schemas: JsonSchemas,
): { schema: JsonSchema; example?: object } | undefined {
  if (plain) {
    const forms = [referenceTo('PlainError'), referenceTo('Error')];
    const either = mayBeEnveloped(route, status) ? { anyOf: forms } : referenceTo('PlainError');
    return { schema: either, example: { error: description } };
  }
  if (code) return { schema: referenceTo('Error'), example: errorExample(status, code, description) };
  if (schema) return { schema: schemas.of(schema, 'answer') };
  return contentType ? { schema: { type: 'string' } } : undefined;
}
