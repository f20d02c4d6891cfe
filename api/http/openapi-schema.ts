import type joi from 'joi';
import joiToJson from 'joi-to-json';

type Schema = Record<string, unknown>;

/** The module exports the function itself, which its types do not say. */
const convert = joiToJson as unknown as (schema: joi.Schema, mode: 'open-api-3.1') => Schema;

/** Converts a joi schema to JSON Schema of OpenAPI 3.1. */
export function jsonSchemaOf(schema: joi.Schema): Schema {
  // Unknown fields are accepted and dropped; the document must say so too.
  const described = convert(schema.prefs({ allowUnknown: true }), 'open-api-3.1');
  delete described.schemas;
  return simplify(described) as Schema;
}

/** Simplifies joi-to-json's output: conditionals become `anyOf`, and a minimum of 0 is dropped. */
function simplify(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplify);
  if (typeof value !== 'object' || value === null) return value;
  const { if: condition, then, else: otherwise, ...rest } = value as Schema;
  const entries = Object.entries(rest).filter(
    ([key, item]) => !(key === 'minLength' && item === 0) && !(key === 'additionalProperties' && item === true),
  );
  const plain: Schema = Object.fromEntries(entries.map(([key, item]) => [key, simplify(item)]));
  // joi-to-json lists patterns as properties too.
  if (rest.patternProperties) plain.properties = withoutPatterns(rest.properties);
  if (condition !== undefined) plain.anyOf = choices([then, otherwise].filter((item) => item !== undefined));
  // Beside alternatives, joi-to-json's type of a nullable value would allow nothing but null.
  if (plain.type === 'null' && Array.isArray(plain.anyOf)) {
    delete plain.type;
    plain.anyOf = [...plain.anyOf, { type: 'null' }];
  }
  if (plain.exclusiveMinimum !== undefined) delete plain.minimum;
  return plain;
}

const withoutPatterns = (properties: unknown): Schema =>
  Object.fromEntries(Object.entries((properties ?? {}) as Schema).filter(([name]) => !/^\/.*\/[a-z]*$/.test(name)));

/** Flattens nested choices and removes duplicates. */
function choices(schemas: unknown[]): unknown[] {
  const flat = schemas.map(simplify).flatMap((schema) => {
    const { anyOf, ...rest } = schema as { anyOf?: unknown[] };
    return anyOf && Object.keys(rest).length === 0 ? anyOf : [schema];
  });
  return [...new Map(flat.map((schema) => [JSON.stringify(schema), schema])).values()];
}
