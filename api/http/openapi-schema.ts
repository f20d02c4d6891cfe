import type joi from 'joi';
import joiToJson from 'joi-to-json';

type Schema = Record<string, unknown>;

/** The module is the function itself, which its types do not say. */
const convert = joiToJson as unknown as (schema: joi.Schema, mode: 'open-api-3.1') => Schema;

/** A joi schema as JSON Schema of OpenAPI 3.1. */
export function jsonSchemaOf(schema: joi.Schema): Schema {
  // Extra fields are let through and dropped, which is what the document must say too.
  const described = convert(schema.prefs({ allowUnknown: true }), 'open-api-3.1');
  delete described.schemas;
  return tidy(described) as Schema;
}

/** joi-to-json is exact where a reader wants it plain: a choice by type is a choice, and a minimum of 0 says nothing. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== 'object' || value === null) return value;
  const { if: condition, then, else: otherwise, ...rest } = value as Schema;
  const entries = Object.entries(rest).filter(
    ([key, item]) => !(key === 'minLength' && item === 0) && !(key === 'additionalProperties' && item === true),
  );
  const plain: Schema = Object.fromEntries(entries.map(([key, item]) => [key, tidy(item)]));
  // A pattern of names is no name as well.
  if (rest.patternProperties) plain.properties = withoutPatterns(rest.properties);
  if (condition !== undefined) plain.anyOf = choices([then, otherwise].filter((item) => item !== undefined));
  return plain;
}

const withoutPatterns = (properties: unknown): Schema =>
  Object.fromEntries(Object.entries((properties ?? {}) as Schema).filter(([name]) => !/^\/.*\/$/.test(name)));

/** A choice within a choice is one more of the same, and what is offered twice is offered once. */
function choices(schemas: unknown[]): unknown[] {
  const flat = schemas.map(tidy).flatMap((schema) => {
    const { anyOf, ...rest } = schema as { anyOf?: unknown[] };
    return anyOf && Object.keys(rest).length === 0 ? anyOf : [schema];
  });
  return [...new Map(flat.map((schema) => [JSON.stringify(schema), schema])).values()];
}
