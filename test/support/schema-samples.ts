// Generates values that a JSON schema of the OpenAPI document allows.
import fc, { type Arbitrary } from 'fast-check';

type Schema = Record<string, unknown>;

const DAY = fc.date({ min: new Date('2026-12-01'), max: new Date('2030-12-31'), noInvalidDate: true });
const label = fc.stringMatching(/^[a-z]{1,8}$/);

const formats: Record<string, Arbitrary<string>> = {
  email: fc.tuple(label, label).map(([user, host]) => `${user}@${host}.example`),
  uuid: fc.uuid(),
  'date-time': DAY.map((date) => date.toISOString()),
  date: DAY.map((date) => date.toISOString().slice(0, 10)),
  uri: label.map((host) => `https://${host}.example/path`),
  hostname: fc.tuple(label, label).map(([name, host]) => `${name}.${host}.example`),
  ipv4: fc.ipV4(),
  'time-zone': fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York'),
};

/** Printable text, now and then beyond ASCII. */
const unit = fc.constantFrom(...Array.from({ length: 95 }, (_, n) => String.fromCharCode(32 + n)), 'é', 'ß', '漢');
const plainSamples = fc.sample(fc.string({ unit, minLength: 3, maxLength: 20 }), { numRuns: 40, seed: 1 });

/** Values for fields by their name, where a schema cannot say which exist. */
export type KnownValues = Record<string, unknown>;

export function samplesOf(schema: Schema, known: KnownValues = {}, name = ''): Arbitrary<unknown> {
  if (name in known && schema.type !== 'object') return fc.constant(known[name]);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.examples) && !schema.properties) return fc.constantFrom(...(schema.examples as unknown[]));
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  const choices = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (choices && !schema.properties) {
    const { anyOf: _any, oneOf: _one, ...rest } = schema;
    return fc.oneof(...choices.map((choice) => samplesOf({ ...rest, ...choice }, known, name)));
  }
  const types = [schema.type].flat().filter(Boolean) as string[];
  if (types.length > 1) return fc.oneof(...types.map((type) => samplesOf({ ...schema, type }, known, name)));
  return ofType(types[0], schema, known, name);
}

function ofType(type: string | undefined, schema: Schema, known: KnownValues, name: string): Arbitrary<unknown> {
  switch (type) {
    case 'object':
      return objectsOf(schema, known);
    case 'array': {
      const min = Number(schema.minItems ?? 0);
      const size = { minLength: min, maxLength: Math.min(Number(schema.maxItems ?? min + 2), min + 2) };
      const items = samplesOf((schema.items ?? {}) as Schema, known, name.replace(/s$/, ''));
      return schema.uniqueItems ? fc.uniqueArray(items, { ...size, selector: JSON.stringify }) : fc.array(items, size);
    }
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer(bounds(schema, 1));
    case 'number': {
      const { min, max } = bounds(schema, 0.5);
      return fc.double({ min, max, noNaN: true });
    }
    case 'null':
      return fc.constant(null);
    default:
      return textsOf(schema);
  }
}

function bounds({ minimum, maximum, exclusiveMinimum }: Schema, step: number): { min: number; max: number } {
  const min = exclusiveMinimum === undefined ? Number(minimum ?? 0) : Number(exclusiveMinimum) + step;
  return { min, max: Number(maximum ?? Math.max(min, 1_000)) };
}

function objectsOf(schema: Schema, known: KnownValues): Arbitrary<Schema> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>).filter(
    ([, property]) => property.not === undefined && property.format !== 'binary',
  );
  const required = new Set((schema.required ?? []) as string[]);
  // One of several fields is required.
  for (const choice of [schema, ...((schema.allOf ?? []) as Schema[])].flatMap(
    ({ anyOf }) => (anyOf ?? []) as Schema[],
  ))
    for (const key of (choice.required ?? []) as string[]) required.add(key);
  const values = Object.fromEntries(properties.map(([key, property]) => [key, samplesOf(property, known, key)]));
  const keys = [...required].filter((key) => key in values);
  const patterns = Object.entries((schema.patternProperties ?? {}) as Record<string, Schema>);
  const named = fc.record(values, { requiredKeys: keys }) as Arbitrary<Schema>;
  const [pattern] = patterns;
  if (!pattern) return named;
  const { pattern: names } = (schema.propertyNames ?? {}) as Schema;
  const anyName = typeof names === 'string' ? new RegExp(names) : /^X-[A-Za-z]{1,8}$/;
  const key = fc.stringMatching(pattern[0] === '^' ? anyName : new RegExp(pattern[0]));
  const more = fc.dictionary(key, samplesOf(pattern[1], known), {
    maxKeys: Math.min(2, Number(schema.maxProperties ?? 2)),
  });
  return fc.tuple(named, more).map(([one, other]) => ({ ...other, ...one }));
}

function textsOf({ format, pattern, minLength, maxLength, contentEncoding }: Schema): Arbitrary<string> {
  const min = Number(minLength ?? 0);
  const max = Number(maxLength ?? Number.POSITIVE_INFINITY);
  const fits = (text: string) =>
    text.length >= min && text.length <= max && (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text));
  const ofFormat = formats[String(format)];
  if (ofFormat) return ofFormat.filter(fits);
  if (contentEncoding === 'base64') return fc.base64String({ maxLength: 60 });
  const plain = fc.string({ unit, minLength: min, maxLength: Math.min(max, min + 30) });
  if (typeof pattern !== 'string') return plain;
  // Most texts fit a pattern that forbids little; one that describes the whole text is generated from it.
  const matches = plainSamples.filter((text) => new RegExp(pattern, 'u').test(text));
  if (matches.length > plainSamples.length / 4) return plain.filter(fits);
  const withoutLookahead = pattern.replace(/\(\?![^()]*\)/, '');
  return fc.stringMatching(new RegExp(withoutLookahead, 'u')).filter(fits);
}
