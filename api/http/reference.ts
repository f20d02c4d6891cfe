// Prepares the OpenAPI document for the pages of the API reference.
import { pathsInFull } from '../../platform/openapi-references.ts';
import { type CodeSample, type ExampleCall, samplesOf } from './code-samples.ts';
import { exampleOf } from './openapi-examples.ts';
import type { OpenApiDocument } from './openapi-shared.ts';
import { exampleBodies } from './reference-examples.ts';

interface JsonSchema {
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  examples?: unknown[];
  $ref?: string;
  [rule: string]: unknown;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  example?: unknown;
  schema: JsonSchema;
}

type Content = Record<string, { schema: JsonSchema; example?: unknown }>;

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  'x-access': string;
  'x-role'?: string;
  'x-scope'?: string;
  'x-also-scope'?: { scope: string; for?: string };
  parameters: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

/** A field of a body or response, or a parameter. `depth` is its indentation. */
interface Line {
  name: string;
  type: string;
  rules: string;
  description: string;
  required: boolean;
  depth: number;
}

/** A field of the form that tries an operation. */
interface TryField {
  place: 'path' | 'query' | 'header' | 'form' | 'file';
  name: string;
  required: boolean;
  value: string;
  options: string[];
}

export interface ReferenceOperation {
  id: string;
  method: string;
  path: string;
  summary: string;
  caller: string;
  role: string | undefined;
  scope: string | undefined;
  alsoScope: { scope: string; for?: string } | undefined;
  parameters: Line[];
  contentType: string | undefined;
  body: Line[];
  answers: { status: string; description: string; fields: Line[] }[];
  samples: CodeSample[];
  tryFields: TryField[];
  /** The JSON that the form sends, to be edited. */
  tryBody: string | undefined;
}

export interface ReferenceGroup {
  slug: string;
  tag: string;
  description: string;
  operations: ReferenceOperation[];
}

export interface Reference {
  title: string;
  description: string;
  groups: ReferenceGroup[];
}

const MAX_DEPTH = 6;
const RULES = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern', 'default'];
/** Operations that the TypeScript client has; see dev/api-types.ts. */
const CLIENT_ACCESS = ['publicKey', 'secretKey', 'memberOrKey'];

const callers: Record<string, string> = {
  publicKey: 'public key',
  secretKey: 'secret key, or a session with X-Project-Id',
  session: 'session',
  projectSession: 'session with X-Project-Id',
  member: 'session of a member',
  memberOrKey: 'secret key, or session of a member',
  operator: 'session of an operator of the installation',
  public: 'anyone',
};

const auth: Record<string, ExampleCall['auth']> = {
  publicKey: 'publicKey',
  secretKey: 'secretKey',
  memberOrKey: 'secretKey',
  public: 'none',
};

export interface ReferenceOptions {
  /** Where the examples call. */
  baseUrl: string;
  /** The sender in examples, such as `hello@example.com`. */
  from: string;
}

export function referenceOf(document: OpenApiDocument, { baseUrl, from }: ReferenceOptions): Reference {
  const { info, tags } = document;
  const bodies = exampleBodies(from);
  const operations = Object.entries(pathsInFull(document)).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const declared = operation as Operation;
      return { tag: declared.tags[0] ?? '', ...operationOf(method.toUpperCase(), path, declared, baseUrl, bodies) };
    }),
  );
  const { title, description } = info as { title: string; description: string };
  return {
    title,
    description,
    groups: (tags as { name: string; description: string }[]).map(({ name, description }) => ({
      slug: name.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
      tag: name,
      description,
      operations: operations.filter(({ tag }) => tag === name),
    })),
  };
}

function operationOf(
  method: string,
  path: string,
  operation: Operation,
  baseUrl: string,
  bodies: Record<string, unknown>,
): ReferenceOperation {
  const { operationId, summary, parameters, requestBody, responses } = operation;
  const [contentType, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const access = callers[operation['x-access']] ?? operation['x-access'];
  const example =
    bodies[`${method} ${path}`] ?? neededFields(body?.schema, body && (body.example ?? exampleOf(body.schema, {})));
  const call = callOf(method, path, operation, contentType, body?.schema, example);
  return {
    id: operationId,
    method,
    path,
    summary,
    caller: path.startsWith('/v1/') ? access.replace(/,.*/, '') : access,
    role: operation['x-role'],
    scope: operation['x-scope'],
    alsoScope: operation['x-also-scope'],
    parameters: parameters.map(({ name, required, schema, description }) =>
      lineOf(name, { description, ...schema }, required, 0),
    ),
    contentType,
    body: body ? linesOf(body.schema) : [],
    answers: Object.entries(responses).map(([status, { description, content }]) => ({
      status,
      description,
      fields: status < '300' ? linesOf(Object.values(content ?? {})[0]?.schema ?? {}) : [],
    })),
    samples: samplesOf(call, baseUrl),
    tryFields: tryFieldsOf(operation, call),
    tryBody: call.body?.kind === 'json' ? JSON.stringify(call.body.value, null, 2) : undefined,
  };
}

/** The document's example has every field; a call to copy has only those that are needed. Files are named beside it. */
function neededFields(schema: JsonSchema | undefined, example: unknown): unknown {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return example;
  const isFile = (name: string) => schema?.properties?.[name]?.format === 'binary';
  const required = (schema?.required ?? []).filter((name) => !isFile(name));
  return Object.fromEntries(
    Object.entries(example).filter(([name]) => !isFile(name) && (required.length === 0 || required.includes(name))),
  );
}

function callOf(
  method: string,
  path: string,
  { parameters, responses, ...operation }: Operation,
  contentType: string | undefined,
  schema: JsonSchema | undefined,
  example: unknown,
): ExampleCall {
  const access = operation['x-access'];
  const valuesIn = (place: Parameter['in']) =>
    Object.fromEntries(
      parameters.filter((one) => one.in === place && one.required).map((one) => [one.name, exampleValue(one)]),
    );
  const files = Object.entries(schema?.properties ?? {}).filter(([, { format }]) => format === 'binary');
  const kind = contentType?.startsWith('multipart/')
    ? 'multipart'
    : contentType?.includes('urlencoded')
      ? 'form'
      : 'json';
  const isStream = Object.values(responses).some(({ content }) => content?.['text/event-stream']);
  return {
    method,
    path,
    pathValues: valuesIn('path'),
    queryValues: valuesIn('query'),
    auth: auth[access] ?? 'session',
    ofProject: access === 'projectSession',
    body: contentType ? { kind, value: example, files: files.map(([name]) => name) } : undefined,
    inClient: CLIENT_ACCESS.includes(access) && !isStream,
  };
}

function exampleValue({ name, example, schema }: Parameter): unknown {
  if (name === 'email') return 'ann@example.com';
  return example ?? (schema.enum ?? [])[0] ?? name;
}

function tryFieldsOf({ parameters }: Operation, { body }: ExampleCall): TryField[] {
  const fields = parameters
    .filter(({ name }) => !name.includes('*'))
    .map((one): TryField => {
      const value = one.required && !one.name.toLowerCase().endsWith('id') ? textOf(exampleValue(one)) : '';
      const options = (one.schema.enum ?? []).map(textOf);
      return { place: one.in, name: one.name, required: one.required, value, options };
    });
  if (!body || body.kind === 'json') return fields;
  const values = Object.entries((body.value ?? {}) as object);
  return [
    ...fields,
    ...body.files.map((name): TryField => ({ place: 'file', name, required: true, value: '', options: [] })),
    ...values.map(
      ([name, value]): TryField => ({ place: 'form', name, required: false, value: textOf(value), options: [] }),
    ),
  ];
}

function linesOf(schema: JsonSchema, depth = 0): Line[] {
  if (depth > MAX_DEPTH) return [];
  const { properties = {}, required = [], items, anyOf, oneOf } = schema;
  if (items) return linesOf(items, depth);
  const inner = Object.entries(properties).flatMap(([name, property]) => [
    lineOf(name, property, required.includes(name), depth),
    ...linesOf(property, depth + 1),
  ]);
  const [nested] = (anyOf ?? oneOf ?? []).map((one) => linesOf(one, depth)).filter((lines) => lines.length > 0);
  return inner.length > 0 ? inner : (nested ?? []);
}

function lineOf(name: string, schema: JsonSchema, required: boolean, depth: number): Line {
  const rules = RULES.filter((rule) => schema[rule] !== undefined).map((rule) => `${rule}: ${textOf(schema[rule])}`);
  const { description = '' } = schema;
  return { name, type: typeOf(schema), rules: rules.join(', '), description, required, depth };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function typeOf({ type, format, enum: values, const: only, items, anyOf, oneOf, $ref }: JsonSchema): string {
  if ($ref) return $ref.slice($ref.lastIndexOf('/') + 1);
  if (values) return values.map(textOf).join(' | ');
  if (only !== undefined) return textOf(only);
  const choices = anyOf ?? oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(' | ');
  if (items) return `list of ${typeOf(items)}`;
  const base = Array.isArray(type) ? type.join(' | ') : (type ?? 'any');
  return format ? `${base} (${format})` : base;
}
