import type { Db } from '../../db/connect.ts';
import { type Fragment, sql } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { scopeOf } from '../conditions/scope.ts';
import { countField, type FieldName, readFieldName, type StandardField } from './fields.ts';

export interface FieldValues {
  field: string;
  values: unknown[];
  limit: number;
}

/**
 * The number of contacts with the field that are read. A rare value may be missing from the list.
 */
const SAMPLE = 50_000;
/** Up to this many contacts are found by the index of keys; beyond, a scan is faster. */
const FEW = 5_000;

const columns: Record<StandardField, Fragment> = {
  email: sql`email`,
  subscribed: sql`subscribed`,
  createdAt: sql`date_trunc('milliseconds', created_at)`,
  updatedAt: sql`date_trunc('milliseconds', updated_at)`,
};

/** Returns the distinct values of a field, sorted. */
export async function listFieldValues(db: Db, projectId: string, name: string, limit: number): Promise<FieldValues> {
  const field = readFieldName(name);
  const rows = await queryRows<{ value: unknown }>(
    db,
    sql`select distinct value from (${await sampleOf(db, projectId, field)}) sample order by value limit ${limit}`,
  );
  return { field: field.field, values: rows.map(({ value }) => value), limit };
}

async function sampleOf(db: Db, projectId: string, field: FieldName): Promise<Fragment> {
  if (field.key === undefined)
    return sql`select ${columns[field.field as StandardField]} as value from contacts
      where project_id = ${projectId} limit ${SAMPLE}`;
  const value = sql`data -> ${field.key}::text`;
  const few = (await countField(db, projectId, field)) <= FEW;
  const having = few
    ? sql`${await scopeOf(db, projectId)} and data_keys(data) @> array[${field.key}::text]`
    : sql`project_id = ${projectId} and ${value} is not null`;
  return sql`select ${value} as value from contacts where ${having} limit ${SAMPLE}`;
}
