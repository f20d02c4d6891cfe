import type { Client, QueryResultRow } from 'pg';
import type { Db } from './db.ts';
import { PinnedConnection } from './pinned-connection.ts';

/**
 * Returns a statement of the hot path, prepared once per connection under its name, which must be unique in the program.
 * Everything else uses Objection or `db.raw`.
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
 * Array parameters for `unnest`, hidden in sub-queries so that the planner does not see their length. Otherwise it estimates
 * a custom plan to be slightly cheaper than the generic one and plans every call anew, which costs more than running a small
 * batch (measured: three quarters of all calls).
 */
export const arrays = (...types: string[]): string =>
  types.map((type, n) => `(select $${n + 1}::${type}[])`).join(', ');

/** Returns an array literal of ids, numbers, times or NULL. Skips pg's quoting, which these values do not need. */
export const plainArray = (values: (string | number)[]): string => `{${values.join(',')}}`;
