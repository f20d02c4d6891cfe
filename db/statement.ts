// How the program talks to the database apart from the models. See docs/decisions/code-structure.md.
import type { Client, QueryArrayConfig, QueryArrayResult, QueryConfig } from 'pg';
import type { Db } from './db.ts';
import { PinnedConnection } from './pinned-connection.ts';
import type { Fragment } from './sql.ts';

/** Rows arrive in camelCase: the column `project_id` is the field `projectId`. */
type Camel<Row> = { [Field in keyof Row]: Field extends `${string}_${string}` ? never : Row[Field] };

type RowMapper = (values: unknown[]) => unknown;

export interface Statement<Row> {
  (db: Db | PinnedConnection, values?: unknown[]): Promise<Row[]>;
  /** Runs the statement and returns how many rows it changed or returned. */
  count(db: Db | PinnedConnection, values?: unknown[]): Promise<number>;
}

/** Returns a statement that is prepared once per connection under its name, which must be unique in the program. */
export function statement<Row extends Camel<Row> = Record<never, never>>(name: string, text: string): Statement<Row> {
  const run = async (db: Db | PinnedConnection, values: unknown[] = []) =>
    rowsOf<Row>(await send(db, { name, text, values }));
  const count = async (db: Db | PinnedConnection, values: unknown[] = []) =>
    (await send(db, { name, text, values })).rowCount ?? 0;
  return Object.assign(run, { count });
}

/** Runs SQL that is composed and planned for each call. For a text that is always the same, use `statement`. */
export const queryRows = async <Row extends Camel<Row>>(db: Db, fragment: Fragment): Promise<NoInfer<Row>[]> =>
  rowsOf<Row>(await send(db, fragment.toQuery()));

/** Returns how many rows the composed SQL changed or returned. */
export const queryCount = async (db: Db, fragment: Fragment): Promise<number> =>
  (await send(db, fragment.toQuery())).rowCount ?? 0;

async function send(db: Db | PinnedConnection, config: QueryConfig): Promise<QueryArrayResult> {
  const query: QueryArrayConfig = { ...config, rowMode: 'array' };
  if (db instanceof PinnedConnection) return db.query(query);
  const connection: Client = await db.client.acquireConnection();
  try {
    return await connection.query(query);
  } finally {
    await db.client.releaseConnection(connection);
  }
}

const mappers = new Map<string, RowMapper>();

/** The one place that names columns in camelCase, for statements and composed SQL. */
function rowsOf<Row>({ fields, rows }: QueryArrayResult): Row[] {
  if (rows.length === 0) return [];
  const columns = fields.map(({ name }) => name);
  const key = columns.join();
  const mapper = mappers.get(key) ?? compileMapper(columns);
  mappers.set(key, mapper);
  return rows.map(mapper) as Row[];
}

/** Compiled: rows cost less than the objects of pg with it, and more with a loop over the columns. */
function compileMapper(columns: string[]): RowMapper {
  const fields = columns.map((column, n) => `${JSON.stringify(camelCase(column))}: values[${n}]`);
  return new Function('values', `return { ${fields.join(', ')} }`) as RowMapper;
}

const camelCase = (column: string): string => column.replace(/_+(.)/g, (_, letter: string) => letter.toUpperCase());

/**
 * Array parameters for `unnest`, hidden in sub-queries so that the planner does not see their length. Otherwise it estimates
 * a custom plan to be slightly cheaper than the generic one and plans every call anew, which costs more than running a small
 * batch (measured: three quarters of all calls).
 */
export const arrays = (...types: string[]): string =>
  types.map((type, n) => `(select $${n + 1}::${type}[])`).join(', ');

/** Returns an array literal of ids, numbers, times or NULL. Skips pg's quoting, which these values do not need. */
export const plainArray = (values: (string | number)[]): string => `{${values.join(',')}}`;
