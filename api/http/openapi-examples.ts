// Examples of values for the API document, from schemas.
import type { JsonSchema } from './json-schema.ts';

type Components = Record<string, JsonSchema>;

const TIME = '2026-11-15T12:00:00.000Z';
const ID = '01928c7e-0000-7000-8000-000000000002';
const OTHER_ID = '01928c7e-0000-7000-8000-000000000003';

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

/** Returns a value that the schema allows. `components` are the named schemas that it may refer to. */
export function exampleOf(schema: JsonSchema, components: Components, name = ''): unknown {
  if (typeof schema.$ref === 'string') return exampleOf(resolved(schema, components), components, name);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  if (Array.isArray(schema.enum)) return schema.enum.find((value) => value !== null) ?? null;
  if (schema.default !== undefined) return schema.default;
  const [choice] = (schema.properties ? [] : (schema.anyOf ?? schema.oneOf ?? [])) as JsonSchema[];
  if (choice) return exampleOf(choice, components, name);
  const type = [schema.type].flat().find((one) => one !== 'null' && one !== 'array') ?? [schema.type].flat()[0];
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
          .filter(
            ([key, property]) =>
              (property.format !== 'binary' || isRequired(schema, key)) && property.not === undefined,
          )
          .filter(([key]) => !isOtherChoice(schema, key))
          .map(([key, property]) => [key, recordExample(property, key) ?? exampleOf(property, components, key)]),
      );
    case 'array':
      return Array.from({ length: Math.max(Number(schema.minItems ?? 1), 1) }, () =>
        exampleOf((schema.items ?? {}) as JsonSchema, components, name.replace(/s$/, '')),
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

/** Returns the component that a schema refers to. */
const resolved = ({ $ref }: JsonSchema, components: Components): JsonSchema =>
  components[String($ref).replace('#/components/schemas/', '')] ?? {};

/** The example of an object whose fields have no fixed names. */
const recordExample = (schema: JsonSchema, name: string): object | undefined =>
  [schema.type].flat()[0] === 'object' && !schema.properties ? recordExamples[name] : undefined;

/** Whether the schema or its first alternative requires it. */
function isRequired({ required = [], anyOf = [] }: JsonSchema, key: string): boolean {
  const [first] = anyOf as { required?: string[] }[];
  return [...(required as string[]), ...(first?.required ?? [])].includes(key);
}

/** Whether `oneOf` asks for another field instead of this one. */
function isOtherChoice({ oneOf = [] }: JsonSchema, key: string): boolean {
  const [first, ...others] = oneOf as { required?: string[] }[];
  return !first?.required?.includes(key) && others.some(({ required }) => required?.includes(key));
}

function textExample({ format, maxLength, minLength = 0, pattern }: JsonSchema, name: string): string {
  const fits = (text: string) =>
    text.length <= Number(maxLength ?? text.length) &&
    text.length >= Number(minLength) &&
    (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text));
  const ofFormat = fieldFormatExamples[`${format} ${name}`] ?? formatExamples[String(format)];
  const candidates = [ofFormat, textExamples[name], 'text', '42', 'true'];
  const suitable = candidates.find((text) => text !== undefined && fits(text));
  return suitable ?? 'text'.slice(0, Number(maxLength ?? 4)).padEnd(Number(minLength), 'x');
}
