import joi from 'joi';
import { isPublicApi } from '../middleware/cors.ts';
import type { DeclaredAnswer } from './answers.ts';
import { conditionSchemas } from './condition-schema.ts';
import { type JsonSchema, JsonSchemas, referenceTo } from './json-schema.ts';
import { mailDocumentSchemas } from './mail-document-schema.ts';
import { exampleOf } from './openapi-examples.ts';
import {
  documentedHeaders,
  ErrorResponses,
  idempotencyKey,
  type OpenApiDocument,
  pascal,
  type Responses,
  securitySchemes,
  sharedHeaders,
  sharedSchemas,
  takesMembers,
  takesSession,
} from './openapi-shared.ts';
import { openApiWebhooks, webhookParameters, webhookResponses } from './openapi-webhooks.ts';
import { type Multipart, neededRole, type Route, type RouteGroup } from './route.ts';
import { tagTexts } from './tags.ts';
import type { Shape } from './typed.ts';

/** Builds the OpenAPI document from the route declarations. */
export const openApiOf = (groups: RouteGroup[]): OpenApiDocument => new DocumentBuilder().document(groups);

const security = {
  publicKey: [{ publicKey: [] }],
  anyKey: [{ publicKey: [] }, { secretKey: [] }],
  secretKey: [{ secretKey: [] }],
  session: [{ session: [] }],
  projectSession: [{ session: [], project: [] }],
  member: [{ session: [] }],
  operator: [{ session: [] }],
  memberOrKey: [{ secretKey: [] }, { session: [] }],
  public: [],
};

const SHARED_PARAMETERS = ['limit', 'cursor', 'page', 'pageSize', 'startDate', 'endDate', 'search'];

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const mediaTypes = { form: [FORM], anyForm: [FORM], jsonOrForm: [JSON_TYPE, FORM], raw: ['*/*'] };

const projectInQuery = joi.string().guid().description('The project of a session, instead of X-Project-Id.');

class DocumentBuilder {
  private readonly schemas = new JsonSchemas({ ...sharedSchemas, ...conditionSchemas, ...mailDocumentSchemas });
  private readonly errors = new ErrorResponses();
  private readonly parameters: Record<string, object> = { IdempotencyKey: idempotencyKey, ...webhookParameters };

  document(groups: RouteGroup[]): OpenApiDocument {
    const paths: OpenApiDocument['paths'] = {};
    for (const { tag, routes } of groups)
      for (const route of routes) {
        const path = route.path.replace(/:(\w+)/g, '{$1}');
        paths[path] = { ...paths[path], [route.method.toLowerCase()]: this.operation(route, tag) };
      }
    const webhooks = openApiWebhooks(this.schemas);
    const tags = [...new Set(groups.map(({ tag }) => tag))];
    return {
      openapi: '3.1.0',
      info: {
        title: 'Everpost',
        version: '1',
        description: 'A multi-tenant email platform: contacts, events, transactional email, campaigns and workflows.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      tags: tags.map((name) => ({ name, description: tagTexts[name] ?? '' })),
      paths,
      webhooks,
      components: {
        schemas: this.namedTypes(),
        headers: sharedHeaders,
        parameters: sortedByName(this.parameters),
        responses: { ...sortedByName(this.errors.components), ...webhookResponses },
        securitySchemes,
      },
    };
  }

  /** Requests have an example to copy. */
  private namedTypes(): Record<string, JsonSchema> {
    const { components } = this.schemas;
    const types = Object.entries(components).map(([name, schema]) => [
      name,
      name.endsWith('Request') ? { ...schema, examples: [exampleOf(schema, components)] } : schema,
    ]);
    return sortedByName(Object.fromEntries(types));
  }

  private operation(route: Route, tag: string): object {
    const { method, path, summary, params, query, access } = route;
    const requestBody = this.requestBody(route);
    return {
      operationId: operationId(method, path),
      summary,
      tags: [tag],
      security: takesSession(route) ? [...security.secretKey, { session: [], project: [] }] : security[access],
      'x-access': access,
      ...(takesMembers(route) && { 'x-role': neededRole(route) }),
      ...(route.scope && { 'x-scope': route.scope }),
      ...(route.alsoScope && { 'x-also-scope': alsoScopeOf(route.alsoScope) }),
      parameters: [
        ...this.parametersIn('path', params),
        ...this.parametersIn('query', { ...query, ...(route.projectInQuery && { projectId: projectInQuery }) }),
        // Routes that declare IDEMPOTENCY_KEY_REUSED accept an Idempotency-Key.
        ...(route.answers[409]?.code === 'IDEMPOTENCY_KEY_REUSED' ? [parameterReference('IdempotencyKey')] : []),
      ],
      ...(requestBody && { requestBody }),
      responses: this.responses(route),
    };
  }

  private parametersIn(location: 'path' | 'query', shape: Shape = {}): object[] {
    return Object.entries(shape).map(([name, field]) => {
      const { description, ...schema } = this.schemas.of(field, 'request');
      const example = exampleOf(schema, this.schemas.components, name);
      const required = location === 'path' || isRequired(field);
      return this.share({ name, in: location, required, description: String(description ?? ''), schema, example });
    });
  }

  /** Puts a parameter that many operations have under a name: `ContactID`, `Limit`. */
  private share(parameter: Parameter): object {
    const name = pascal(parameter.name === 'id' ? parameter.description : parameter.name);
    if (parameter.name !== 'id' && !SHARED_PARAMETERS.includes(parameter.name)) return parameter;
    const known = this.parameters[name];
    if (known && JSON.stringify(known) !== JSON.stringify(parameter)) return parameter;
    this.parameters[name] = parameter;
    return parameterReference(name);
  }

  private requestBody({ body, bodyKind, multipart }: Route): object | undefined {
    if (!body && !multipart) return undefined;
    const given = joi.isSchema(body) ? body : joi.object((body ?? {}) as joi.SchemaMap);
    const schema = this.schemas.of(given, 'request');
    if (multipart)
      return { required: true, content: { 'multipart/form-data': { schema: this.form(multipart, schema) } } };
    const required = bodyKind !== 'anyForm';
    const types = bodyKind ? mediaTypes[bodyKind] : [JSON_TYPE];
    return { required, content: Object.fromEntries(types.map((type) => [type, { schema }])) };
  }

  /** A form with the files besides its fields. One of the files is required. */
  private form({ name, description, files }: Multipart, fields: JsonSchema): JsonSchema {
    const required = Object.keys(files).map((file) => ({ required: [file] }));
    const parts = Object.entries(files).map(([file, text]) => [
      file,
      { description: text, type: 'string', format: 'binary' },
    ]);
    return this.schemas.define(name, {
      description,
      ...fields,
      properties: { ...(fields.properties as object), ...Object.fromEntries(parts) },
      ...(required.length > 1 ? { anyOf: required } : required[0]),
    });
  }

  private responses(route: Route): Responses {
    const declared = Object.entries(route.answers).map(([status, answer]) => [
      status,
      this.response(Number(status), answer, route),
    ]);
    return { ...this.errors.of(route), ...Object.fromEntries(declared) };
  }

  private response(status: number, answer: DeclaredAnswer, route: Route): object {
    const { contentType, code, plain, orError } = answer;
    const codes = code ?? orError;
    const description = codes ? `${answer.description} (\`${codes}\`)` : answer.description;
    const media = this.media(status, answer, route);
    const content = media && {
      [contentType ?? 'application/json']: media,
      ...(orError && { 'application/json': { schema: referenceTo('Error') } }),
    };
    if (content && (code || plain)) return this.errors.declared(status, description, content, answer.what);
    const headers = documentedHeaders(status, { rateLimit: isPublicApi(route.path) });
    return { description, ...(Object.keys(headers).length > 0 && { headers }), ...(content && { content }) };
  }

  private media(
    status: number,
    { schema, contentType, code, plain }: DeclaredAnswer,
    route: Route,
  ): { schema: JsonSchema } | undefined {
    if (plain) {
      const either = { anyOf: [referenceTo('PlainError'), referenceTo('Error')] };
      return { schema: mayBeEnveloped(route, status) ? either : referenceTo('PlainError') };
    }
    if (code) return { schema: referenceTo('Error') };
    if (schema) return { schema: this.schemas.of(schema, 'answer') };
    return contentType ? { schema: { type: 'string' } } : undefined;
  }
}

const sortedByName = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

const operationId = (method: string, path: string): string =>
  method.toLowerCase() + path.replace(/[^A-Za-z0-9]+(\w?)/g, (_all, letter: string) => letter.toUpperCase());

const alsoScopeOf = ({ scope, for: some }: NonNullable<Route['alsoScope']>): object => ({
  scope,
  ...(some && { for: some.description }),
});

interface Parameter {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  description: string;
  schema: JsonSchema;
  example: unknown;
}

const parameterReference = (name: string): object => ({ $ref: `#/components/parameters/${name}` });

/** With the meta `required`, the route itself refuses a request without the value. */
function isRequired(schema: joi.Schema): boolean {
  const { flags, metas = [] }: { flags?: { presence?: string }; metas?: { required?: boolean }[] } = schema.describe();
  return flags?.presence === 'required' || metas.some(({ required }) => required);
}

/** A body that is no JSON and a session without a project are refused before the route's own rules, in the envelope. */
const mayBeEnveloped = (route: Route, status: number): boolean =>
  status === 400 && (route.body !== undefined || takesSession(route));
