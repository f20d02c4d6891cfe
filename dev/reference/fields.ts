// Writes parameters and fields of types as Markdown tables.
import { type DocumentedSchema, nameIn } from './operations.ts';

/** Returns the address of a type. */
export type LinkOf = (type: string) => string;

export interface Field {
  name: string;
  required: boolean;
  description: string;
  schema: DocumentedSchema;
}

export function fieldTable(fields: Field[], linkOf: LinkOf): string {
  const lines = fields.flatMap((field) => fieldLines(field, linkOf));
  return ['| Name | Type | Description |', '|---|---|---|', ...lines].join('\n');
}

/** A line for the field, and one for each field of an object without a name inside it. */
function fieldLines({ name, required, description, schema }: Field, linkOf: LinkOf): string[] {
  const rules = rulesOf(schema);
  const text = [description, rules && `<span class="rules">${rules}</span>`].filter(Boolean).join(' ');
  const line = `| \`${name}\`${required ? ' <span class="required">required</span>' : ''} | ${typeText(schema, linkOf)} | ${inCell(text)} |`;
  const { properties = {}, required: inner = [], prefix } = objectIn(schema);
  return [
    line,
    ...Object.entries(properties).flatMap(([key, property]) =>
      fieldLines(
        {
          name: `${name}${prefix}.${key}`,
          required: inner.includes(key),
          description: property.description ?? '',
          schema: property,
        },
        linkOf,
      ),
    ),
  ];
}

/** Finds an object without a name: the field itself, an item of it, or one of its alternatives. */
function objectIn(schema: DocumentedSchema, prefix = ''): DocumentedSchema & { prefix: string } {
  const { items, additionalProperties, anyOf, oneOf, properties } = schema;
  if (properties && Object.keys(properties).length > 0) return { ...schema, prefix };
  if (items) return objectIn(items, `${prefix}[]`);
  if (typeof additionalProperties === 'object') return objectIn(additionalProperties, `${prefix}.*`);
  const [found] = (anyOf ?? oneOf ?? []).map((one) => objectIn(one, prefix)).filter((one) => one.properties);
  return found ?? { prefix };
}

/** A bar would end the cell. */
const inCell = (text: string): string => text.replaceAll('|', '\\|');

/** Returns the type in words, with links to named types. */
export function typeText(schema: DocumentedSchema, linkOf: LinkOf): string {
  const { type, format, enum: values, const: only, items, anyOf, oneOf, $ref, additionalProperties } = schema;
  if ($ref) return `[${nameIn($ref)}](${linkOf(nameIn($ref))})`;
  if (only !== undefined) return code(only);
  if (values) return values.map(code).join(', ');
  const choices = anyOf ?? oneOf;
  if (choices && !schema.properties) return [...new Set(choices.map((one) => typeText(one, linkOf)))].join(' or ');
  if (items) return `list of ${typeText(items, linkOf)}`;
  if (typeof additionalProperties === 'object' && additionalProperties.$ref)
    return `object of ${typeText(additionalProperties, linkOf)}`;
  const base = [type ?? 'any'].flat().join(' or ');
  return format ? `${base} (${format})` : base;
}

const code = (value: unknown): string => (value === null ? 'null' : `\`${inCell(textOf(value))}\``);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function rulesOf(schema: DocumentedSchema): string {
  const { pattern, default: usual } = schema;
  return [
    range(schema.minimum, schema.maximum, ''),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' items'),
    pattern === undefined ? '' : `pattern ${code(pattern)}`,
    usual === undefined ? '' : `default ${code(usual)}`,
  ]
    .filter(Boolean)
    .join(', ');
}

function range(least: unknown, most: unknown, unit: string): string {
  if (least === undefined && most === undefined) return '';
  if (least === undefined) return `up to ${most}${most === 1 ? unit.replace(/s$/, '') : unit}`;
  if (most === undefined) return `at least ${least}${least === 1 ? unit.replace(/s$/, '') : unit}`;
  return `${least} to ${most}${unit}`;
}
