import { createRequire } from 'node:module';
import type joi from 'joi';
import { DOCUMENTED } from '../../platform/joi-violations.ts';

type Schema = Record<string, unknown>;

/** The part of joi's `describe()` that joi-to-json loses. */
interface Described {
  type?: string;
  keys?: Record<string, Described>;
  rules?: { name: string; args?: { limit?: number } }[];
  metas?: Record<string, Schema>[];
  patterns?: { schema?: Described; rule: Described }[];
  whens?: When[];
  flags?: { presence?: string };
}

interface When {
  ref?: { path: string[] };
  is?: Described;
  otherwise?: Described;
}

interface Parser {
  parse(described: Described, definitions?: object, level?: number): Schema;
}

/** joi-to-json exports a function only, which cannot be extended. */
const OpenApiParser = createRequire(import.meta.url)('joi-to-json/lib/parsers/open-api-3.1') as new () => Parser;

/** Adds what joi-to-json leaves out: sizes of objects, values of any name, alternatives that are required, custom rules. */
class CompleteParser extends OpenApiParser {
  override parse(described: Described, definitions?: object, level = 0): Schema {
    const whens = described.whens?.filter((when) => !isRequiredWithout(when));
    const schema = super.parse({ ...described, ...(whens && { whens }) }, definitions, level);
    if (described.type === 'object') {
      for (const { name, args } of described.rules ?? []) {
        if (name === 'max' || name === 'length') schema.maxProperties = args?.limit;
        if (name === 'min' || name === 'length') schema.minProperties = args?.limit;
      }
      const anyName = described.patterns?.find((pattern) => pattern.schema);
      if (anyName) schema.additionalProperties = this.parse(anyName.rule, definitions, level + 1);
      const choices = Object.entries(described.keys ?? {}).flatMap(([key, { whens = [] }]) =>
        requiredWithout(key, whens),
      );
      if (choices.length > 0) schema.allOf = [...((schema.allOf as unknown[]) ?? []), ...choices];
    }
    return Object.assign(schema, ...(described.metas ?? []).map((meta) => meta[DOCUMENTED] ?? {}));
  }
}

/** A key that is required when another is missing: one of the two is required. */
const isRequiredWithout = ({ is, otherwise }: When): boolean =>
  is?.flags?.presence === 'required' && otherwise?.flags?.presence === 'required';

const requiredWithout = (key: string, whens: When[]): Schema[] =>
  whens.filter(isRequiredWithout).map(({ ref }) => ({ anyOf: [{ required: [key] }, { required: [ref?.path[0]] }] }));

/** Converts a joi schema to JSON Schema of OpenAPI 3.1. */
export function jsonSchemaOf(schema: joi.Schema): Schema {
  // Unknown fields are accepted and dropped; the document must say so too.
  const described = new CompleteParser().parse(schema.prefs({ allowUnknown: true }).describe() as Described);
  delete described.schemas;
  return simplify(described) as Schema;
}

/** Converts the schema of an answer: addresses in it may be international, which `email` of JSON Schema does not allow. */
export const answerSchemaOf = (schema: joi.Schema): Schema =>
  JSON.parse(JSON.stringify(jsonSchemaOf(schema)).replaceAll('"format":"email"', '"format":"idn-email"')) as Schema;

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
