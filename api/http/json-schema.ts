// Converts joi schemas to JSON Schema as OpenAPI 3.1 uses it. A named schema is written once, as a component.
import type joi from 'joi';
import { DOCUMENTED } from '../../platform/joi-violations.ts';

export type JsonSchema = Record<string, unknown>;

/** What joi's `describe()` returns, as far as our schemas use it. */
interface Described {
  type: string;
  flags?: {
    presence?: string;
    only?: boolean;
    description?: string;
    default?: unknown;
  };
  allow?: unknown[];
  rules?: { name: string; args?: { limit?: number; regex?: string } }[];
  metas?: { name?: TypeName; [DOCUMENTED]?: JsonSchema }[];
  examples?: unknown[];
  keys?: Record<string, Described>;
  patterns?: { schema?: Described; regex?: string; rule: Described }[];
  items?: Described[];
  matches?: { schema?: Described; then?: Described; otherwise?: Described }[];
  preferences?: { allowUnknown?: boolean };
  whens?: { ref?: { path: string[] }; is?: Described; otherwise?: Described }[];
}

interface TypeName {
  name: string;
  description: string;
}

/** Names a schema: the API document describes it once, under this name. */
export const named = <S extends joi.Schema>(name: string, description: string, schema: S): S =>
  schema.meta({ name: { name, description } }) as S;

/** Returns the name of a schema. */
export const nameOf = (schema: joi.Schema): string | undefined => typeNameOf(schema.describe() as Described)?.name;

/** A schema that extends a named one has the metas of both; the last one counts. */
const typeNameOf = ({ metas = [] }: Described): TypeName | undefined => metas.findLast(({ name }) => name)?.name;

export const referenceTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** Whether a schema describes requests or answers. Addresses of answers may be international. */
export type SchemaUse = 'request' | 'answer';

export class JsonSchemas {
  /** The named schemas so far. */
  readonly components: Record<string, JsonSchema>;

  constructor(components: Record<string, JsonSchema> = {}) {
    this.components = { ...components };
  }

  of(schema: joi.Schema, use: SchemaUse): JsonSchema {
    return this.convert(schema.describe() as Described, use);
  }

  /** Adds a named schema, and returns the reference to it. */
  define(name: string, component: JsonSchema): JsonSchema {
    const known = this.components[name];
    if (known && JSON.stringify(known) !== JSON.stringify(component))
      throw new Error(`Two schemas have the name ${name}:\n${JSON.stringify(known)}\n${JSON.stringify(component)}`);
    this.components[name] = component;
    return referenceTo(name);
  }

  private convert(described: Described, use: SchemaUse): JsonSchema {
    const { flags: { description, default: fallback } = {}, examples } = described;
    const type = typeNameOf(described);
    const schema = type ? this.reference(type, described, use) : this.unnamed(described, use);
    return {
      ...(description !== undefined && { description }),
      ...schema,
      ...(fallback !== undefined && { default: fallback }),
      ...(examples && { examples }),
    };
  }

  private reference({ name, description }: TypeName, described: Described, use: SchemaUse): JsonSchema {
    const reference = this.define(name, { description, ...this.unnamed(withoutNull(described), use) });
    return allowsNull(described) ? { anyOf: [reference, { type: 'null' }] } : reference;
  }

  private unnamed(described: Described, use: SchemaUse): JsonSchema {
    const rules: JsonSchema = Object.assign({}, ...(described.metas ?? []).map((meta) => meta[DOCUMENTED]));
    if (typeof rules.type === 'string') rules.type = withNull(rules.type, described);
    if (Array.isArray(rules.anyOf) && allowsNull(described)) rules.anyOf = [...rules.anyOf, { type: 'null' }];
    return { ...this.keywordsOf(described, use), ...rules };
  }

  private keywordsOf(described: Described, use: SchemaUse): JsonSchema {
    switch (described.type) {
      case 'alternatives':
        return this.alternatives(described, use);
      case 'array':
        return this.array(described, use);
      case 'object':
        return this.object(described, use);
      case 'string':
        return { ...valuesOf(described, 'string'), ...stringRules(described, use) };
      case 'number':
        return { ...valuesOf(described, 'number'), ...numberRules(described) };
      case 'boolean':
        return valuesOf(described, 'boolean');
      default:
        return {};
    }
  }

  private alternatives(described: Described, use: SchemaUse): JsonSchema {
    const given = (described.matches ?? []).flatMap(({ schema, then, otherwise }) => [schema, then, otherwise]);
    const schemas = given.flatMap((one) => (one ? [this.convert(one, use)] : []));
    if (allowsNull(described)) schemas.push({ type: 'null' });
    return { anyOf: distinct(schemas.flatMap(flattened)) };
  }

  private array(described: Described, use: SchemaUse): JsonSchema {
    const [item] = described.items ?? [];
    const rules = rulesOf(described);
    return {
      type: withNull('array', described),
      ...(item && { items: this.convert(item, use) }),
      ...(rules.min !== undefined && { minItems: rules.min }),
      ...(rules.max !== undefined && { maxItems: rules.max }),
    };
  }

  private object(described: Described, use: SchemaUse): JsonSchema {
    const { keys = {}, patterns = [] } = described;
    const rules = rulesOf(described);
    const required = Object.keys(keys).filter((key) => keys[key]?.flags?.presence === 'required');
    const forbidden = (key: Described) => key.flags?.presence === 'forbidden';
    const properties = Object.entries(keys).map(([key, value]) => [
      key,
      forbidden(value) ? { description: 'Always absent.', not: {} } : this.convert(value, use),
    ]);
    const byPattern = patterns.flatMap(({ regex, rule }) =>
      regex ? [[regex.replace(/^\/|\/\w*$/g, ''), this.convert(rule, use)]] : [],
    );
    const anyName = patterns.find(({ schema }) => schema);
    const choices = Object.entries(keys).flatMap(([key, { whens = [] }]) => requiredWithout(key, whens));
    return {
      type: withNull('object', described),
      ...(required.length > 0 && { required }),
      ...((properties.length > 0 || byPattern.length > 0) && { properties: Object.fromEntries(properties) }),
      ...(byPattern.length > 0 && { patternProperties: Object.fromEntries(byPattern) }),
      ...(anyName && { additionalProperties: this.convert(anyName.rule, use) }),
      ...(described.preferences?.allowUnknown === false && { additionalProperties: false }),
      ...(rules.min !== undefined && { minProperties: rules.min }),
      ...(rules.max !== undefined && { maxProperties: rules.max }),
      ...(choices.length > 0 && { allOf: choices }),
    };
  }
}

/** Converts a schema to JSON Schema that stands alone: its `$defs` are the named parts, and the `known` ones it uses. */
export function standaloneSchemaOf(schema: joi.Schema, known: Record<string, JsonSchema> = {}): JsonSchema {
  const schemas = new JsonSchemas(known);
  const converted = schemas.of(schema, 'request');
  const $defs = referredTo(converted, schemas.components);
  if (Object.keys($defs).length === 0) return converted;
  const whole = JSON.stringify({ ...converted, $defs });
  return JSON.parse(whole.replaceAll('"#/components/schemas/', '"#/$defs/')) as JsonSchema;
}

/** Returns the components that a schema refers to, also through other components. */
function referredTo(
  schema: JsonSchema,
  components: Record<string, JsonSchema>,
  found: Record<string, JsonSchema> = {},
): Record<string, JsonSchema> {
  for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    const component = components[name];
    if (!component || found[name]) continue;
    found[name] = component;
    referredTo(component, components, found);
  }
  return found;
}

/** A key that is required when another is missing: one of the two is required. */
const requiredWithout = (key: string, whens: NonNullable<Described['whens']>): JsonSchema[] =>
  whens
    .filter(({ is, otherwise }) => is?.flags?.presence === 'required' && otherwise?.flags?.presence === 'required')
    .map(({ ref }) => ({ anyOf: [{ required: [key] }, { required: [ref?.path[0]] }] }));

/** The limits of the rules by their names. */
const rulesOf = ({ rules = [] }: Described): Record<string, number | undefined> =>
  Object.fromEntries(rules.map(({ name, args }) => [name, args?.limit]));

/** The type and, if only some values are allowed, those. */
function valuesOf(described: Described, type: string): JsonSchema {
  const { allow = [], flags } = described;
  if (!flags?.only) return { type: withNull(type, described) };
  return allow.length === 1 ? { const: allow[0] } : { type: withNull(type, described), enum: allow };
}

function stringRules(described: Described, use: SchemaUse): JsonSchema {
  const { rules = [], allow = [], flags } = described;
  const { min, max } = rulesOf(described);
  const keywords: JsonSchema = {};
  const mayBeEmpty = allow.includes('') && !flags?.only;
  if (min !== undefined && min > 0 && !mayBeEmpty) keywords.minLength = min;
  if (max !== undefined) keywords.maxLength = max;
  for (const { name, args } of rules) {
    if (name === 'email') keywords.format = use === 'request' ? 'email' : 'idn-email';
    if (name === 'guid') keywords.format = 'uuid';
    if (name === 'isoDate') keywords.format = 'date-time';
    if (name === 'pattern') keywords.pattern = args?.regex?.replace(/^\/|\/\w*$/g, '');
  }
  return keywords;
}

function numberRules(described: Described): JsonSchema {
  const { min, max, greater } = rulesOf(described);
  const isInteger = described.rules?.some(({ name }) => name === 'integer');
  return {
    ...(isInteger && { type: withNull('integer', described) }),
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
    ...(greater !== undefined && { exclusiveMinimum: greater }),
  };
}

const allowsNull = ({ allow = [] }: Described): boolean => allow.includes(null);

const withoutNull = (described: Described): Described => ({
  ...described,
  ...(described.allow && { allow: described.allow.filter((value) => value !== null) }),
});

const withNull = (type: string, described: Described): string | string[] =>
  allowsNull(described) ? [type, 'null'] : type;

/** An alternative that is nothing but alternatives. */
function flattened(schema: JsonSchema): JsonSchema[] {
  const { anyOf, ...rest } = schema;
  return Array.isArray(anyOf) && Object.keys(rest).length === 0 ? anyOf : [schema];
}

const distinct = (schemas: JsonSchema[]): JsonSchema[] => [
  ...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values(),
];
