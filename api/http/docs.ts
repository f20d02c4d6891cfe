import type { OpenApiDocument } from './openapi.ts';

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
  $ref?: string;
  [rule: string]: unknown;
}

interface Operation {
  summary: string;
  tags: string[];
  'x-access': string;
  'x-role'?: string;
  parameters: { name: string; in: string; required: boolean; schema: JsonSchema }[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: JsonSchema }> }>;
}

/** A field of a body or response, or a parameter. `depth` is its indentation. */
interface Line {
  name: string;
  type: string;
  rules: string;
  required: boolean;
  depth: number;
}

const MAX_DEPTH = 6;
const RULES = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern', 'default'];

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

/** Flattens the OpenAPI document for the documentation page. */
export function docsOf({ paths, info }: OpenApiDocument) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationOf(method, path, operation as Operation)),
  );
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  return {
    info,
    groups: tags.map((tag) => ({ tag, operations: operations.filter((operation) => operation.tag === tag) })),
  };
}

function operationOf(method: string, path: string, operation: Operation) {
  const { summary, tags, parameters, requestBody, responses } = operation;
  const [contentType, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const access = callers[operation['x-access']] ?? operation['x-access'];
  return {
    id: `${method}${path.replace(/[^A-Za-z0-9]+/g, '-')}`,
    method: method.toUpperCase(),
    path,
    summary,
    tag: tags[0] ?? '',
    caller: path.startsWith('/v1/') ? access.replace(/,.*/, '') : access,
    role: operation['x-role'],
    parameters: parameters.map(({ name, required, schema }) => lineOf(name, schema, required, 0)),
    contentType,
    body: body && linesOf(body.schema),
    answers: Object.entries(responses).map(([status, { description, content }]) => ({
      status,
      description,
      fields: status < '300' ? linesOf(Object.values(content ?? {})[0]?.schema ?? {}) : [],
    })),
  };
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
  return { name, type: typeOf(schema), rules: rules.join(', '), required, depth };
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
