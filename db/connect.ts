import knex, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import { statement } from './statement.ts';
import { Waker } from './waker.ts';

/** A handle on the database: the pool itself, or a transaction. Services take either. */
export type Db = Knex;

export interface ConnectOptions {
  databaseUrl: string;
  poolSize?: number;
  /** Shown in pg_stat_activity. */
  name?: string;
}

// A transaction shares its pool's config object, so this finds the waker from either.
const wakers = new WeakMap<object, Waker>();

const notify = statement('wake', "select pg_notify('everpost_wake', $1)");

const quiet = () => {};

export function connectDb({ databaseUrl, poolSize = 10, name = 'everpost' }: ConnectOptions): Db {
  const db = knex({
    client: 'pg',
    connection: { connectionString: databaseUrl, application_name: name },
    pool: { min: 0, max: poolSize },
    acquireConnectionTimeout: 10_000,
    // Values of rows do not belong into error messages, which are logged.
    compileSqlOnError: false,
    // Whatever knex would print reaches the caller as an error anyway.
    log: { warn: quiet, error: quiet, deprecate: quiet, debug: quiet },
    // snake_case in Postgres, camelCase in the program; statements written as SQL text see the columns as they are.
    ...knexSnakeCaseMappers(),
  });
  wakers.set(db.client.config, new Waker((lanes) => notify(db, [lanes])));
  return db;
}

/** The one way to open a transaction; inside one it joins it. */
export function inTransaction<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction(work);
}

/**
 * Tells the relays that `lane` has something to do, once it is committed: a NOTIFY inside the transaction would take a
 * lock that all commits wait for. Losing it costs a poll interval, never work.
 */
export function wake(db: Db, lane: string): void {
  const waker = wakers.get(db.client.config);
  if (!waker) return;
  if (db.isTransaction)
    (db as Knex.Transaction).executionPromise.then(
      () => waker.wake(lane),
      () => {},
    );
  else waker.wake(lane);
}
