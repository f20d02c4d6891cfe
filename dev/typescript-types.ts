// Writes TypeScript for an OpenAPI document: an interface for every named type, and the operations in the form that
// openapi-fetch reads.

export type Schema = Record<string, unknown>;

type Content = Record<string, { schema: Schema }>;

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description: string;
  schema: Schema;
}

export interface Operation {
  operationId: string;
  summary: string;
  'x-access': string;
  parameters: (Parameter | { $ref: string })[];
  requestBody?: { content: Content };
  responses: Record<string, { $ref?: string; content?: Content }>;
}

export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
}

/** The name of the generated files. */
export const API_TYPES = 'api-types.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const PLACES = ['query', 'header', 'path', 'cookie'];
/** The answer to all that the document declares with other statuses. */
const ERROR = 'default: { headers: Headers; content: { "application/json": Error } };';

/** Returns a module with the operations that `includes` accepts, and the named types that they use. */
export function typesOf(document: ApiDocument, includes: (operation: Operation) => boolean): string {
  const { schemas, parameters } = document.components;
  const paths = Object.entries(document.paths)
    .map(([path, methods]) => [path, Object.entries(methods).filter(([, one]) => includes(one))] as const)
    .filter(([, methods]) => methods.length > 0);
  const operations = paths.flatMap(([, methods]) => methods.map(([, operation]) => operation));
  const used = usedNames([operations, document.webhooks, schemas.Error], schemas);
  return [
    '// Generated from the OpenAPI document by `npm run api-types`.',
    'type Headers = Record<string, unknown>;',
    ...used.map((name) => namedType(name, schemas[name] ?? {})),
    block('export interface paths', paths.map(pathMember)),
    block(
      'export interface operations',
      operations.map((operation) => operationMember(operation, parameters)),
    ),
    block('export interface webhooks', Object.entries(document.webhooks).map(webhookMember)),
    '',
  ].join('\n\n');
}

/** Names of the types that are referred to, also by one another, in alphabetical order. */
function usedNames(values: unknown, schemas: Record<string, Schema>): string[] {
  const names = new Set<string>();
  const collect = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)[/"]/g)) {
      if (names.has(name)) continue;
      names.add(name);
      collect(schemas[name]);
    }
  };
  collect(values);
  return [...names.add('Error')].sort();
}

const nameIn = (reference: string): string => reference.split('/').at(-1) ?? '';

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

const block = (head: string, members: string[]): string =>
  members.length > 0 ? `${head} {\n${indented(members.join('\n'))}\n}` : `${head} {}`;

const comment = (text: unknown): string =>
  typeof text === 'string' && text ? `/** ${text.replaceAll('*/', '*\\/')} */\n` : '';

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

function namedType(name: string, schema: Schema): string {
  const head = comment(schema.description);
  const isPlain = schema.properties !== undefined && !Array.isArray(schema.type);
  return isPlain
    ? `${head}${block(`export interface ${name}`, members(schema))}`
    : `${head}export type ${name} = ${typeOf(schema)};`;
}

function members({ properties = {}, required = [] }: Schema): string[] {
  return Object.entries(properties as Record<string, Schema>).map(([name, property]) => {
    const mark = (required as string[]).includes(name) ? '' : '?';
    return `${comment(property.description)}${key(name)}${mark}: ${typeOf(property)};`;
  });
}

/** `#/components/schemas/Contact` becomes `Contact`; a part of a type is looked up in it. */
function typeNameOf(reference: string): string {
  const [name = '', , property] = reference.replace('#/components/schemas/', '').split('/');
  return property ? `${name}[${JSON.stringify(property)}]` : name;
}

const literals = (values: unknown[]): string => values.map((value) => JSON.stringify(value)).join(' | ');

/** Returns the TypeScript type of a schema. */
function typeOf(schema: Schema): string {
  const { $ref, const: only, enum: values, anyOf, oneOf, type } = schema;
  if (typeof $ref === 'string') return typeNameOf($ref);
  if (only !== undefined) return literals([only]);
  if (Array.isArray(values)) return literals([...new Set([type].flat().includes('null') ? [...values, null] : values)]);
  const choices = (anyOf ?? oneOf) as Schema[] | undefined;
  if (choices && !schema.properties) return [...new Set(choices.map(typeOf))].join(' | ');
  if (schema.not !== undefined) return 'undefined';
  if (type === undefined) return 'unknown';
  return [...new Set([type].flat().map((one) => typeOfKind(String(one), schema)))].join(' | ');
}

function typeOfKind(type: string, schema: Schema): string {
  switch (type) {
    case 'array':
      return arrayOf(typeOf((schema.items ?? {}) as Schema));
    case 'object':
      return objectType(schema);
    case 'integer':
      return 'number';
    default:
      return type;
  }
}

const arrayOf = (item: string): string => (/^\w+$/.test(item) ? `${item}[]` : `(${item})[]`);

function objectType(schema: Schema): string {
  const { properties = {}, additionalProperties, patternProperties } = schema;
  if (Object.keys(properties as object).length > 0) return block('', members(schema)).trimStart();
  const [pattern] = Object.values((patternProperties ?? {}) as Record<string, Schema>);
  const values = typeof additionalProperties === 'object' ? (additionalProperties as Schema) : pattern;
  return `Record<string, ${values ? typeOf(values) : 'unknown'}>`;
}

const pathMember = ([path, methods]: readonly [string, [string, Operation][]]): string => {
  const own = new Map(methods);
  const lines = METHODS.map((method) => {
    const operation = own.get(method);
    return operation
      ? `${comment(operation.summary)}${method}: operations[${JSON.stringify(operation.operationId)}];`
      : `${method}?: never;`;
  });
  const noParameters = PLACES.map((place) => `${place}?: never;`).join(' ');
  return `${block(`${JSON.stringify(path)}:`, [`parameters: { ${noParameters} };`, ...lines])};`;
};

function operationMember(
  { operationId, parameters: references, requestBody, responses }: Operation,
  named: Record<string, Parameter>,
): string {
  const parameters = references.flatMap((one) => ('$ref' in one ? (named[nameIn(one.$ref)] ?? []) : one));
  const places = PLACES.map((place) => {
    const own = parameters.filter((one) => one.in === place);
    if (own.length === 0) return `${place}?: never;`;
    const fields = own.map(
      ({ name, required, description, schema }) =>
        `${comment(description)}${key(name)}${required ? '' : '?'}: ${typeOf(schema)};`,
    );
    return `${block(`${place}${own.some(({ required }) => required) ? '' : '?'}:`, fields)};`;
  });
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  return `${block(`${operationId}:`, [
    `${block('parameters:', places)};`,
    requestBody ? `requestBody: { ${contentMember(requestBody.content)} };` : 'requestBody?: never;',
    `${block('responses:', [
      ...good.map(([status, { content }]) => `${status}: { headers: Headers; ${contentMember(content)} };`),
      ERROR,
    ])};`,
  ])};`;
}

function contentMember(content: Content | undefined): string {
  if (!content) return 'content?: never;';
  const types = Object.entries(content).map(([type, { schema }]) => `${JSON.stringify(type)}: ${typeOf(schema)};`);
  return `content: { ${types.join(' ')} };`;
}

const webhookMember = ([type, { post }]: [string, { post: Operation }]): string =>
  `${comment(post.summary)}${JSON.stringify(type)}: ${typeOf(post.requestBody?.content['application/json']?.schema ?? {})};`;
