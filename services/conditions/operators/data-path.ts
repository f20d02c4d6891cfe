import { type Fragment, joined, sql } from '../fragment.ts';
import type { ConditionQuery, Subject } from '../types.ts';
import type { Scalar } from './arguments.ts';

/** A value inside a contact's data, or inside the context of an execution. */
export interface DataPath {
  root: 'data' | 'context';
  /** At least one. */
  keys: string[];
}

/** Returns undefined when any key is missing or its parent is no object. Arrays are not traversed. */
export function valueAt({ root, keys }: DataPath, { contact, context }: Subject): unknown {
  let value: unknown = root === 'data' ? contact.data : context;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
      return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value ?? undefined;
}

export const rootSql = ({ root }: DataPath, { context }: ConditionQuery): Fragment =>
  root === 'data' ? sql`c.data` : sql`${JSON.stringify(context)}::jsonb`;

/** Chains `->` because `#>` would treat a numeric key as an array index. */
export const valueSql = (path: DataPath, query: ConditionQuery): Fragment =>
  sql`(${joined([rootSql(path, query), ...path.keys.map((key) => sql`${key}::text`)], ' -> ')})`;

export const textSql = (path: DataPath, query: ConditionQuery): Fragment => sql`(${valueSql(path, query)} #>> '{}')`;

export const isTextSql = (path: DataPath, query: ConditionQuery): Fragment =>
  sql`jsonb_typeof(${valueSql(path, query)}) = 'string'`;

export const isPresent = (path: DataPath, query: ConditionQuery): Fragment =>
  sql`jsonb_typeof(${valueSql(path, query)}) <> 'null'`;

/** Redundant, but lets the planner use the index on keys. */
export const hasKey = (path: DataPath): Fragment =>
  path.root === 'data' ? sql`data_keys(c.data) @> array[${path.keys[0]}::text]` : sql`true`;

/** The JSON document with the value at its path, for containment (`@>`) with the GIN index on data. */
export const document = ({ keys }: DataPath, value: Scalar): string =>
  JSON.stringify(keys.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value));
