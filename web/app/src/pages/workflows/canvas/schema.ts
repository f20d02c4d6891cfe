// What a form needs to know of the JSON Schema of a config.

export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  items?: Schema;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  required?: string[];
  format?: string;
  pattern?: string;
  maxLength?: number;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  maxItems?: number;
}

export type Config = Record<string, unknown>;

export const objectOf = (value: unknown): Config =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Config) : {};

/** The input that a value of a schema gets. */
export type FieldKind =
  | 'condition'
  | 'span'
  | 'fields'
  | 'record'
  | 'flag'
  | 'number'
  | 'choice'
  | 'choices'
  | 'rows'
  | 'time'
  | 'text'
  | 'json';

const typesOf = ({ type }: Schema): string[] => [type ?? []].flat().filter((name) => name !== 'null');

/** Where a value may have several shapes: the first one is offered, which has names for what it contains. */
export const shapeOf = (schema: Schema): Schema => schema.anyOf?.[0] ?? schema;

export function fieldKind(given: Schema): FieldKind {
  const schema = shapeOf(given);
  const { properties = {}, items } = schema;
  const types = typesOf(schema);
  if (types.length !== 1) return schema.enum ? 'choice' : 'json';
  if (types[0] === 'object') return objectKind(properties);
  if (schema.enum) return 'choice';
  if (types[0] === 'boolean') return 'flag';
  if (types[0] === 'number' || types[0] === 'integer') return 'number';
  if (types[0] === 'array') return items?.enum ? 'choices' : items?.properties ? 'rows' : 'json';
  return schema.pattern && isTimeOfDay(schema.pattern) ? 'time' : 'text';
}

function objectKind(properties: Record<string, Schema>): FieldKind {
  const names = Object.keys(properties);
  if (names.includes('logic') && names.includes('groups')) return 'condition';
  if (names.length === 2 && isSpan(properties)) return 'span';
  return names.length === 0 ? 'record' : 'fields';
}

/** An amount of time, as many steps have one. */
export const isSpan = (properties: Record<string, Schema>): boolean =>
  properties.amount !== undefined && properties.unit?.enum !== undefined;

function isTimeOfDay(pattern: string): boolean {
  try {
    const rule = new RegExp(pattern);
    return rule.test('09:00') && rule.test('23:59') && !rule.test('25:00') && !rule.test('text');
  } catch {
    // Written for another engine.
    return false;
  }
}

/** The bound that a number breaks. */
export function brokenBound(
  value: number | undefined,
  { minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity }: Schema,
): { rule: 'above' | 'atLeast' | 'atMost'; limit: number } | undefined {
  if (value === undefined) return undefined;
  if (value <= exclusiveMinimum) return { rule: 'above', limit: exclusiveMinimum };
  if (value < minimum) return { rule: 'atLeast', limit: minimum };
  return value > maximum ? { rule: 'atMost', limit: maximum } : undefined;
}

/** Properties of which a config may have one only. */
export const exclusiveKeys = ({ oneOf = [] }: Schema): string[] =>
  oneOf.flatMap(({ required = [] }) => (required.length === 1 ? required : []));

/** Sets or removes a value, and removes those that may not stand beside it. */
export function withValue(schema: Schema, config: Config, key: string, value: unknown): Config {
  const { [key]: _, ...rest } = config;
  if (value === undefined || value === '') return rest;
  const exclusive = exclusiveKeys(schema);
  const others = exclusive.includes(key) ? exclusive.filter((other) => other !== key) : [];
  const dropped = others.includes('amount') ? [...others, 'unit'] : others;
  const kept = Object.fromEntries(Object.entries(rest).filter(([name]) => !dropped.includes(name)));
  return { ...kept, [key]: value };
}

/** `replyTo` becomes `Reply to`. */
export const readableName = (name: string): string => {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Reads what a person types as JSON where it is JSON, else as text. */
export function typedValue(text: string): unknown {
  if (!/^\s*(?:-?\d|[[{"]|true\s*$|false\s*$|null\s*$)/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export const typedText = (value: unknown): string =>
  typeof value === 'string' && typedValue(value) === value ? value : JSON.stringify(value, null, 2);
