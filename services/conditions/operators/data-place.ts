import { type Fragment, joined, sql } from '../fragment.ts';
import type { Question, Subject } from '../types.ts';
import type { Scalar } from './arguments.ts';

/** A value inside a contact's data, or inside the context of an execution. */
export interface DataPlace {
  root: 'data' | 'context';
  /** At least one. */
  keys: string[];
}

/** Undefined when any step of the way is missing or no object; an array is not gone into. */
export function valueAt({ root, keys }: DataPlace, { contact, context }: Subject): unknown {
  let value: unknown = root === 'data' ? contact.data : context;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
      return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value ?? undefined;
}

export const rootSql = ({ root }: DataPlace, { context }: Question): Fragment =>
  root === 'data' ? sql`c.data` : sql`${JSON.stringify(context)}::jsonb`;

/** Chained arrows and not #>, which would take a number for a place in an array. */
export const valueSql = (place: DataPlace, question: Question): Fragment =>
  sql`(${joined([rootSql(place, question), ...place.keys.map((key) => sql`${key}::text`)], ' -> ')})`;

export const textSql = (place: DataPlace, question: Question): Fragment => sql`(${valueSql(place, question)} #>> '{}')`;

export const isText = (place: DataPlace, question: Question): Fragment =>
  sql`jsonb_typeof(${valueSql(place, question)}) = 'string'`;

export const isPresent = (place: DataPlace, question: Question): Fragment =>
  sql`jsonb_typeof(${valueSql(place, question)}) <> 'null'`;

/** Implied by the presence of the value itself, and the index on keys can answer it. */
export const hasKey = (place: DataPlace): Fragment =>
  place.root === 'data' ? sql`data_keys(c.data) @> array[${place.keys[0]}::text]` : sql`true`;

/** The value and all that leads to it: what the index on data finds. */
export const document = ({ keys }: DataPlace, value: Scalar): string =>
  JSON.stringify(keys.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value));
