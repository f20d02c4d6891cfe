// Completes the OpenAPI document: a description of every field and parameter, and an example of every body and answer.
import { fieldTexts } from './openapi-field-texts.ts';
import type { OpenApiDocument } from './openapi-shared.ts';

type Schema = Record<string, unknown>;

const TIME = '2026-11-15T12:00:00.000Z';
const ID = '01928c7e-0000-7000-8000-000000000002';
const OTHER_ID = '01928c7e-0000-7000-8000-000000000003';
const REQUEST_ID = '01928c7e-0000-7000-8000-000000000009';

/** Examples of texts, by the name of the field. */
const textExamples: Record<string, string> = {
  body: '<p>Hello {{name ?? "there"}}</p>',
  code: '123456',
  content: 'SGVsbG8=',
  contentType: 'text/plain',
  cron: '0 9 * * 1',
  currency: 'eur',
  cursor: 'eyJhdCI6IjIwMjYtMTEtMTUifQ',
  date: '2026-11-15',
  domain: 'example.com',
  email: 'ann@example.com',
  event: 'signed_up',
  eventName: 'signed_up',
  field: 'data.plan',
  filename: 'terms.txt',
  from: 'shop@example.com',
  html: '<p>Hello Ann</p>',
  ip: '192.0.2.1',
  language: 'en',
  link: 'https://example.com/offer',
  locale: 'en',
  mapping: '{"Plan":"plan"}',
  method: 'POST',
  name: 'Spring news',
  newPassword: 'correct horse battery',
  operator: 'equals',
  password: 'correct horse battery',
  path: '/contacts',
  prefix: 'sk_1a2b',
  publicKey: 'pk_...',
  reply: 'help@example.com',
  role: 'MEMBER',
  route: '/contacts/:id',
  secret: 'whsec_...',
  secretKey: 'sk_...',
  slug: 'vips',
  subject: 'Hello',
  timezone: 'Europe/Berlin',
  to: 'ann@example.com',
  url: 'https://example.com/hook',
  value: 'pro',
};

/** Examples of objects whose fields have no fixed names, by the name of the field. */
const recordExamples: Record<string, object> = {
  context: { orderId: '4711' },
  data: { plan: 'pro' },
  headers: { 'X-Campaign': 'spring' },
};

const formatExamples: Record<string, string> = {
  uuid: ID,
  email: 'ann@example.com',
  'idn-email': 'ann@example.com',
  'date-time': TIME,
  date: '2026-11-15',
  uri: 'https://example.com/hook',
  binary: 'The bytes of the file.',
};

/** Where the field decides, by format and name. */
const fieldFormatExamples: Record<string, string> = {
  'uuid toStepId': OTHER_ID,
  'binary file': 'email,Plan\nann@example.com,pro\n',
};

/** Returns a value that the schema allows. */
export function exampleOf(schema: Schema, name = ''): unknown {
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  if (Array.isArray(schema.enum)) return schema.enum.find((value) => value !== null) ?? null;
  if (schema.default !== undefined) return schema.default;
  const [choice] = (schema.properties ? [] : (schema.anyOf ?? schema.oneOf ?? [])) as Schema[];
  if (choice) return exampleOf(choice, name);
  const type = [schema.type].flat().find((one) => one !== 'null' && one !== 'array') ?? [schema.type].flat()[0];
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries((schema.properties ?? {}) as Record<string, Schema>)
          .filter(
            ([key, property]) =>
              (property.format !== 'binary' || isRequired(schema, key)) && property.not === undefined,
          )
          .filter(([key]) => !isOtherChoice(schema, key))
          .map(([key, property]) => [key, exampleOf(property, key)]),
      );
    case 'array':
      return Array.from({ length: Math.max(Number(schema.minItems ?? 1), 1) }, () =>
        exampleOf((schema.items ?? {}) as Schema, name.replace(/s$/, '')),
      );
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return Math.min(Math.max(1, Number(schema.minimum ?? 0)), Number(schema.maximum ?? Number.POSITIVE_INFINITY));
    case 'null':
      return null;
    default:
      return textExample(schema, name);
  }
}

/** Whether the schema or its first alternative requires it. */
function isRequired({ required = [], anyOf = [] }: Schema, key: string): boolean {
  const [first] = anyOf as { required?: string[] }[];
  return [...(required as string[]), ...(first?.required ?? [])].includes(key);
}

/** Whether `oneOf` asks for another field instead of this one. */
function isOtherChoice({ oneOf = [] }: Schema, key: string): boolean {
  const [first, ...others] = oneOf as { required?: string[] }[];
  return !first?.required?.includes(key) && others.some(({ required }) => required?.includes(key));
}

function textExample({ format, maxLength, minLength = 0, pattern }: Schema, name: string): string {
  const fits = (text: string) =>
    text.length <= Number(maxLength ?? text.length) &&
    text.length >= Number(minLength) &&
    (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text));
  const ofFormat = fieldFormatExamples[`${format} ${name}`] ?? formatExamples[String(format)];
  const candidates = [ofFormat, textExamples[name], 'text', '42', 'true'];
  const suitable = candidates.find((text) => text !== undefined && fits(text));
  return suitable ?? 'text'.slice(0, Number(maxLength ?? 4)).padEnd(Number(minLength), 'x');
}

/** Describes the fields of a schema, and gives an example of each that has no described fields itself. */
function describeFields(schema: unknown): void {
  if (Array.isArray(schema)) for (const one of schema) describeFields(one);
  if (Array.isArray(schema) || typeof schema !== 'object' || schema === null) return;
  const { properties = {}, examples: _examples, example: _example, ...rest } = schema as Schema;
  for (const [name, property] of Object.entries(properties as Record<string, Schema>)) {
    describeFields(property);
    if (property.$ref !== undefined) continue;
    property.description ??= fieldTexts[name] ?? '';
    if (!hasFields(property) && property.not === undefined) property.examples ??= [fieldExample(property, name)];
  }
  for (const value of Object.values(rest)) describeFields(value);
}

/** Whether it is an object with named fields, or an array of such. */
const hasFields = ({ properties, items }: Schema): boolean =>
  Object.keys(properties ?? {}).length > 0 || (isRecord(items) && (items.$ref !== undefined || hasFields(items)));

/** The example of a field. Objects without named fields are empty in the examples of whole bodies. */
const fieldExample = (schema: Schema, name: string): unknown =>
  (schema.type === 'object' && recordExamples[name]) || exampleOf(schema, name);

interface MediaType {
  schema: Schema;
  example?: unknown;
}

interface Operation {
  parameters: { name: string; description?: string; schema: Schema; example?: unknown }[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, { description: string; content?: Record<string, MediaType> }>;
}

/** Changes the document in place. */
export function describeDocument(document: OpenApiDocument): OpenApiDocument {
  describeFields((document.components as { schemas: Schema }).schemas);
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods) as Operation[])) {
    for (const parameter of operation.parameters) {
      describeFields(parameter.schema);
      parameter.description ??=
        (parameter.schema.description as string | undefined) ?? fieldTexts[parameter.name] ?? '';
      parameter.example ??= exampleOf(parameter.schema, parameter.name);
    }
    for (const media of Object.values(operation.requestBody?.content ?? {})) describeMedia(media);
    for (const [status, { description, content }] of Object.entries(operation.responses))
      for (const media of Object.values(content ?? {})) describeMedia(media, Number(status), description);
  }
  for (const { post } of Object.values(document.webhooks as Record<string, { post: Operation }>))
    for (const media of Object.values(post.requestBody?.content ?? {})) {
      const { example } = media;
      delete media.example;
      describeMedia(media);
      // The webhook's own example names only what is worth showing.
      media.example = completed(media.example, example);
    }
  return document;
}

/** Adds what `given` leaves out. */
function completed(whole: unknown, given: unknown): unknown {
  if (!isRecord(whole) || !isRecord(given)) return given ?? whole;
  const keys = [...new Set([...Object.keys(whole), ...Object.keys(given)])];
  return Object.fromEntries(keys.map((key) => [key, key in given ? completed(whole[key], given[key]) : whole[key]]));
}

const isRecord = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function describeMedia(media: MediaType, status = 0, description = ''): void {
  describeFields(media.schema);
  const reference = JSON.stringify(media.schema).match(/schemas\/(Error|PlainError)"/)?.[1];
  media.example ??=
    reference === 'Error'
      ? errorExample(status, description)
      : reference === 'PlainError'
        ? { error: description }
        : exampleOf(media.schema);
}

function errorExample(statusCode: number, description: string): object {
  const code = /`([A-Z_]+)`/.exec(description)?.[1] ?? 'BAD_REQUEST';
  const message = description.replace(/ \(`.*$/, '');
  return {
    success: false,
    error: {
      ...{ code, message, statusCode, requestId: REQUEST_ID },
      ...(code === 'VALIDATION_ERROR' && {
        errors: [{ field: 'email', message: '"email" must be an e-mail address', code: 'invalid_string' }],
      }),
    },
    timestamp: TIME,
  };
}
