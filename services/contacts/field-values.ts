import type { Db } from '../../db/connect.ts';
import { type Fragment, run, sql } from '../conditions/fragment.ts';
import { type FieldName, readFieldName, type StandardField } from './fields.ts';

export interface FieldValues {
  field: string;
  values: unknown[];
  limit: number;
}

/**
 * So many contacts that have the field are looked at: enough to find what a filter offers, and a bound on the work.
 * A value that is rarer than that may be missing from the list.
 */
const SAMPLE = 50_000;

const columns: Record<StandardField, Fragment> = {
  email: sql`email`,
  subscribed: sql`subscribed`,
  createdAt: sql`date_trunc('milliseconds', created_at)`,
  updatedAt: sql`date_trunc('milliseconds', updated_at)`,
};

/** Distinct values of a field, in their order. */
export async function listFieldValues(db: Db, projectId: string, name: string, limit: number): Promise<FieldValues> {
  const field = readFieldName(name);
  const sample = sql`select ${valueIn(field)} as value from contacts
    where project_id = ${projectId} and ${has(field)} limit ${SAMPLE}`;
  const rows = await run<{ value: unknown }>(
    db,
    sql`select distinct value from (${sample}) sample order by value limit ${limit}`,
  );
  return { field: field.field, values: rows.map(({ value }) => value), limit };
}

const valueIn = ({ field, key }: FieldName): Fragment =>
  key === undefined ? columns[field as StandardField] : sql`data -> ${key}::text`;

const has = ({ key }: FieldName): Fragment =>
  key === undefined ? sql`true` : sql`data_keys(data) @> array[${key}::text]`;
