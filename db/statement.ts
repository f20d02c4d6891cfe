import type { Client, QueryResultRow } from 'pg';
import type { Db } from './db.ts';
import { PinnedConnection } from './pinned-connection.ts';

/**
 * A statement of the hot path, prepared once per connection under its name: Postgres parses and plans it once.
 * Everything that is not hot goes through Objection or `db.raw`.
 */
export function statement<Row extends QueryResultRow>(name: string, text: string) {
  return async (db: Db | PinnedConnection, values: unknown[]): Promise<Row[]> => {
    if (db instanceof PinnedConnection) return (await db.query<Row>({ name, text, values })).rows;
    const connection: Client = await db.client.acquireConnection();
    try {
      return (await connection.query<Row>({ name, text, values })).rows;
    } finally {
      await db.client.releaseConnection(connection);
    }
  };
}

/**
 * Parameters that are arrays, for `unnest`, so that the planner does not see how long they are. Seeing it, it would find a
 * plan of its own for every call a little better than the one it keeps, and plan anew each time: for small batches that
 * costs more than carrying them out (measured: three quarters of all calls).
 */
export const arrays = (...types: string[]): string =>
  types.map((type, n) => `(select $${n + 1}::${type}[])`).join(', ');

/** An array of ids or of numbers, as Postgres reads it: they need no quotes, and looking for what does costs more. */
export const plainArray = (values: (string | number)[]): string => `{${values.join(',')}}`;
