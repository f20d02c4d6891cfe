import knex, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import type { Client } from 'pg';
import type { DatabaseTimeouts } from '../platform/settings.ts';
import { declaredTimeoutOf, limitStatements, registerWatch, SilenceWatch } from './bounds.ts';
import type { Db } from './db.ts';
import { watchDisk } from './full-disk.ts';
import { notify } from './notify.ts';

export type { Db } from './db.ts';

export interface ConnectOptions {
  databaseUrl: string;
  poolSize?: number;
  /** Shown in pg_stat_activity. */
  name?: string;
  timeouts?: Partial<DatabaseTimeouts>;
  /**
   * Plans look rows up by index and are kept. For statements that are prepared while tables are almost empty and still
   * run when they are large: without statistics the planner would read whole tables.
   */
  onlyLookups?: boolean;
}

const LOOKUPS_ONLY = ['enable_seqscan=off', 'enable_bitmapscan=off', 'enable_hashjoin=off', 'enable_mergejoin=off']
  // Lookups are cheap: the rows were written a moment ago.
  .concat('random_page_cost=0.1', 'plan_cache_mode=force_generic_plan')
  .map((setting) => `-c ${setting}`)
  .join(' ');

const CONNECT_MS = 5_000;
const ACQUIRE_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
/** Without it knex asks the server on the first connection, without a time limit. */
const POSTGRES_VERSION = '18';

// A transaction shares its pool's config object, so this finds the waker from either.
const wakers = new WeakMap<object, Waker>();

const ignore = () => {};

/** A pool that is being closed answers only when the time limit for a connection is over. */
const isClosing = (db: Db): boolean => db.client.pool?.destroyed ?? true;

export function connectDb(options: ConnectOptions): Db {
  const { databaseUrl, poolSize = 10, name = 'everpost', timeouts = {}, onlyLookups = false } = options;
  const { statementMs, idleInTransactionMs, connectMs = CONNECT_MS } = timeouts;
  const watch = statementMs ? new SilenceWatch(statementMs) : undefined;
  const db: Db = knex({
    client: 'pg',
    version: POSTGRES_VERSION,
    connection: {
      connectionString: databaseUrl,
      application_name: name,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: connectMs,
      // Startup parameters: no round trip of their own.
      ...(onlyLookups && { options: LOOKUPS_ONLY }),
      ...(statementMs && { statement_timeout: statementMs }),
      ...(idleInTransactionMs && { idle_in_transaction_session_timeout: idleInTransactionMs }),
    },
    pool: {
      min: 0,
      max: poolSize,
      afterCreate: (client: Client, done: (error: null) => void) => {
        watch?.watch(client);
        watchDisk(db, client);
        done(null);
      },
      ...(watch && { validate: (client: Client) => watch.isUsable(client) }),
    },
    // Never shorter than the limit of opening a connection.
    acquireConnectionTimeout: Math.max(ACQUIRE_MS, connectMs),
    // Error messages are logged and must not contain values of rows.
    compileSqlOnError: false,
    // The caller gets the same as an error.
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
    // snake_case in Postgres, camelCase in the program. Rows of statements written as SQL text keep snake_case.
    ...knexSnakeCaseMappers(),
  });
  if (watch) registerWatch(db, watch);
  const notifyRelays = async (queues: string): Promise<void> => {
    if (!isClosing(db)) await notify(db, 'everpost_wake', queues);
  };
  wakers.set(db.client.config, new Waker(notifyRelays));
  return db;
}

/** The only way to open a transaction. Inside a transaction, `work` joins it. */
export function inTransaction<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db);
  const timeoutMs = declaredTimeoutOf(db);
  if (timeoutMs === undefined) return db.transaction(work);
  return db.transaction(async (trx) => {
    await limitStatements(trx, timeoutMs);
    return work(trx);
  });
}

/**
 * Notifies the relays of work in `queue` after the commit: a NOTIFY inside the transaction would take a lock that all
 * commits wait for. A lost notification costs a poll interval, never work.
 */
export function wake(db: Db, queue: string): void {
  const waker = wakers.get(db.client.config);
  if (!waker) return;
  if (db.isTransaction) (db as Knex.Transaction).executionPromise.then(() => waker.wake(queue), ignore);
  else waker.wake(queue);
}

/** The least time between two NOTIFYs. A relay that is awake polls for more work anyway. */
const INTERVAL_MS = 10;

/** Coalesces the wake-ups of one process into few NOTIFYs. */
class Waker {
  private readonly queues = new Set<string>();
  private busy = false;
  private readonly notify: (queues: string) => PromiseLike<unknown>;

  constructor(notify: (queues: string) => PromiseLike<unknown>) {
    this.notify = notify;
  }

  wake(queue: string): void {
    this.queues.add(queue);
    if (!this.busy) void this.flush();
  }

  private async flush(): Promise<void> {
    this.busy = true;
    while (this.queues.size > 0) {
      const queues = [...this.queues].join(',');
      this.queues.clear();
      try {
        await this.notify(queues);
      } catch {
        // The relays poll as well: a lost wake-up only delays work.
      }
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS).unref());
    }
    this.busy = false;
  }
}
