// Reads the operations out of the OpenAPI document, each with an example call, for the pages of the API reference.
import { exampleOf } from '../../api/http/openapi-examples.ts';
import type { ExampleCall } from './code-samples.ts';
import { exampleBodies } from './example-bodies.ts';

export interface DocumentedSchema {
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, DocumentedSchema>;
  additionalProperties?: DocumentedSchema | boolean;
  required?: string[];
  items?: DocumentedSchema;
  anyOf?: DocumentedSchema[];
  oneOf?: DocumentedSchema[];
  examples?: unknown[];
  $ref?: string;
  [rule: string]: unknown;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  example?: unknown;
  schema: DocumentedSchema;
}

type Reference = { $ref: string };
type Content = Record<string, { schema: DocumentedSchema }>;

interface Response {
  description: string;
  content?: Content;
}

interface DeclaredOperation {
  operationId: string;
  summary: string;
  tags: string[];
  'x-access': string;
  'x-role'?: string;
  'x-scope'?: string;
  'x-also-scope'?: { scope: string; for?: string };
  parameters: (Parameter | Reference)[];
  requestBody?: { content: Content };
  responses: Record<string, Response | Reference>;
}

export interface ReferenceDocument {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, DeclaredOperation>>;
  webhooks: Record<string, { post: { summary: string; requestBody: { content: Content } } }>;
  components: {
    schemas: Record<string, DocumentedSchema>;
    parameters: Record<string, Parameter>;
    responses: Record<string, Response>;
  };
}

export interface ReferenceOperation {
  id: string;
  tag: string;
  method: string;
  path: string;
  summary: string;
  /** Who may call it, as a sentence. */
  access: string;
  parameters: Parameter[];
  body?: { contentType: string; schema: DocumentedSchema } | undefined;
  responses: { status: string; description: string; schema?: DocumentedSchema | undefined }[];
  /** The status of errors that most operations answer, such as 401 and 429. */
  commonErrors: string[];
  call: ExampleCall;
}

/** Operations that the TypeScript client has; see dev/api-types.ts. */
const CLIENT_ACCESS = ['publicKey', 'anyKey', 'secretKey', 'memberOrKey'];

const callers: Record<string, string> = {
  publicKey: 'Public key',
  anyKey: 'Public or secret key',
  secretKey: 'Secret key, or a session with `X-Project-Id`',
  session: 'Session',
  projectSession: 'Session with `X-Project-Id`',
  member: 'Session of a member',
  memberOrKey: 'Secret key, or the session of a member',
  operator: 'Session of an operator of the installation',
  public: 'None',
};

const auth: Record<string, ExampleCall['auth']> = {
  publicKey: 'publicKey',
  anyKey: 'secretKey',
  secretKey: 'secretKey',
  memberOrKey: 'secretKey',
  public: 'none',
};

export function operationsOf(document: ReferenceDocument): ReferenceOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, declared]) => operationOf(method.toUpperCase(), path, declared, document)),
  );
}

function operationOf(
  method: string,
  path: string,
  declared: DeclaredOperation,
  { components }: ReferenceDocument,
): ReferenceOperation {
  const parameters = declared.parameters.map((one) => resolved(one, components.parameters));
  const entries = Object.entries(declared.responses);
  const isCommon = ([, response]: (typeof entries)[number]) =>
    '$ref' in response && !response.$ref.endsWith('NotFound');
  const responses = entries
    .filter((entry) => !isCommon(entry))
    .map(([status, response]) => {
      const { description, content } = resolved(response, components.responses);
      return { status, description, schema: Object.values(content ?? {})[0]?.schema };
    });
  const [content] = Object.entries(declared.requestBody?.content ?? {});
  const body = content && { contentType: content[0], schema: content[1].schema };
  const isStream = JSON.stringify(declared.responses).includes('text/event-stream');
  const access = declared['x-access'];
  return {
    id: declared.operationId,
    tag: declared.tags[0] ?? '',
    method,
    path,
    summary: declared.summary,
    access: accessOf(path, declared),
    parameters,
    body,
    responses,
    commonErrors: entries.filter(isCommon).map(([status]) => status),
    call: {
      method,
      path,
      pathValues: requiredValues(parameters, 'path'),
      queryValues: requiredValues(parameters, 'query'),
      auth: auth[access] ?? 'session',
      ofProject: access === 'projectSession',
      body: body && exampleBody(`${method} ${path}`, body, components.schemas),
      inClient: CLIENT_ACCESS.includes(access) && !isStream,
    },
  };
}

const resolved = <T extends object>(value: T | Reference, components: Record<string, T>): T => {
  if (!('$ref' in value)) return value;
  const component = components[nameIn(value.$ref)];
  if (!component) throw new Error(`The document has no ${value.$ref}.`);
  return component;
};

/** Returns `Contact` of `#/components/schemas/Contact`. */
export const nameIn = (reference: string): string => reference.split('/')[3] ?? '';

function accessOf(path: string, operation: DeclaredOperation): string {
  const caller = callers[operation['x-access']] ?? operation['x-access'];
  const also = operation['x-also-scope'];
  return [
    // Sessions cannot send and track.
    path.startsWith('/v1/') ? caller.replace(/,.*/, '') : caller,
    ...(operation['x-role'] ? [`role ${operation['x-role']} or higher`] : []),
    ...(operation['x-scope'] ? [`scope \`${operation['x-scope']}\``] : []),
    ...(also ? [`scope \`${also.scope}\`${also.for ? ` for ${also.for}` : ''}`] : []),
  ].join(' · ');
}

const requiredValues = (parameters: Parameter[], place: Parameter['in']): Record<string, unknown> =>
  Object.fromEntries(
    parameters.filter((one) => one.in === place && one.required).map((one) => [one.name, exampleValue(one)]),
  );

export function exampleValue({ name, example, schema }: Parameter): unknown {
  if (name === 'email') return 'ann@example.com';
  return example ?? (schema.enum ?? [])[0] ?? name;
}

function exampleBody(
  operation: string,
  { contentType, schema }: { contentType: string; schema: DocumentedSchema },
  schemas: Record<string, DocumentedSchema>,
): NonNullable<ExampleCall['body']> {
  const type = schema.$ref ? (schemas[nameIn(schema.$ref)] ?? {}) : schema;
  const isFile = (name: string) => type.properties?.[name]?.format === 'binary';
  const kind = contentType.startsWith('multipart/')
    ? 'multipart'
    : contentType.includes('urlencoded')
      ? 'form'
      : 'json';
  return {
    kind,
    value: exampleBodies[operation] ?? neededFields(type, exampleOf(schema, schemas), isFile),
    files: Object.keys(type.properties ?? {}).filter(isFile),
  };
}

/** A made-up example has every field; a call to copy has only those that are needed. Files are named beside it. */
function neededFields(
  { required = [] }: DocumentedSchema,
  example: unknown,
  isFile: (name: string) => boolean,
): unknown {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return example;
  const needed = required.filter((name) => !isFile(name));
  return Object.fromEntries(
    Object.entries(example).filter(([name]) => !isFile(name) && (needed.length === 0 || needed.includes(name))),
  );
}
