// Makes values for the schemas of the OpenAPI document.
import type { SeededRandom } from '../random.ts';

export interface DocumentSchema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: DocumentSchema[];
  oneOf?: DocumentSchema[];
  allOf?: DocumentSchema[];
  properties?: Record<string, DocumentSchema>;
  required?: string[];
  additionalProperties?: boolean | DocumentSchema;
  items?: DocumentSchema;
  minItems?: number;
  format?: string;
  minLength?: number;
  minimum?: number;
  examples?: unknown[];
  example?: unknown;
}

/** Returns a value that mostly fits the schema. `known` has ids that exist. */
export function valueFor(
  schema: DocumentSchema | undefined,
  random: SeededRandom,
  known: string[],
  depth = 0,
): unknown {
  if (!schema || depth > 8) return 'x';
  const inner = (part: DocumentSchema | undefined) => valueFor(part, random, known, depth + 1);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum && schema.enum.length > 0) return random.pick(schema.enum);
  const example = schema.example ?? schema.examples?.[0];
  if (example !== undefined && random.next() < 0.5) return example;
  const choices = schema.properties ? undefined : (schema.anyOf ?? schema.oneOf);
  if (choices && choices.length > 0) return inner(random.pick(choices));
  if (schema.allOf && !schema.properties)
    return Object.assign({}, ...schema.allOf.map((part) => inner(part) as object));
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
  switch (type) {
    case 'null':
      return null;
    case 'boolean':
      return random.next() < 0.5;
    case 'integer':
    case 'number':
      return (schema.minimum ?? 0) + random.between(0, 20);
    case 'array':
      return Array.from({ length: random.between(schema.minItems ?? 0, (schema.minItems ?? 0) + 2) }, () =>
        inner(schema.items),
      );
    case 'string':
      return textFor(schema, random, known);
    default:
      return objectFor(schema, random, inner);
  }
}

function objectFor(
  schema: DocumentSchema,
  random: SeededRandom,
  inner: (part: DocumentSchema | undefined) => unknown,
): object {
  const entries = Object.entries(schema.properties ?? {})
    .filter(([name]) => schema.required?.includes(name) || random.next() < 0.6)
    .map(([name, part]) => [name, inner(part)]);
  if (typeof schema.additionalProperties === 'object') entries.push(['key', inner(schema.additionalProperties)]);
  return Object.fromEntries(entries);
}

function textFor({ format, minLength = 1 }: DocumentSchema, random: SeededRandom, known: string[]): string {
  if (format === 'uuid') return known.length > 0 ? random.pick(known) : '01900000-0000-7000-8000-000000000000';
  if (format === 'email') return `fuzz${random.between(0, 50)}@example.com`;
  if (format === 'date-time') return new Date(Date.UTC(2026, random.between(0, 20), 1)).toISOString();
  if (format === 'date') return '2026-11-16';
  if (format === 'uri') return 'https://example.com/x';
  return random.pick(['hello', 'Ann {{ name }}', '<p>Hi</p>', 'email.sent', 'a']).padEnd(minLength, 'x');
}
