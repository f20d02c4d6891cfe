import type { Socket } from 'node:net';
import type { Knex } from 'knex';
import type { Client } from 'pg';
import type { Db } from './db.ts';
import { sqlText } from './sql.ts';
import { queryRows } from './statement.ts';

/** Added to the server's own limit, so that the client gives up later than the server. */
const GRACE_MS = 5_000;
const CLOSE_MS = 2_000;

/** Fields of pg's client that its types leave out. */
interface ClientInternals {
  /** False from sending a statement until the server is ready for the next. */
  readyForQuery?: boolean;
  _ending: boolean;
  connection: { stream: Socket };
}

const internals = (client: Client) => client as unknown as ClientInternals;
const streamOf = (client: Client): Socket => internals(client).connection.stream;

class SilentServerError extends Error {
  readonly code = 'ETIMEDOUT';
  constructor(ms: number) {
    super(`the database sent nothing for ${ms} ms while a statement was running`);
    this.name = 'SilentServerError';
  }
}

/**
 * Detects a server that stopped answering without closing its connections. `statement_timeout` is the server's own limit;
 * this one is a little longer and works when not even the cancellation arrives.
 */
export class SilenceWatch {
  readonly limitMs: number;
  private readonly openedAt = new WeakMap<Client, number>();
  private replaceOpenedBefore = Number.NEGATIVE_INFINITY;

  constructor(statementTimeoutMs: number) {
    this.limitMs = statementTimeoutMs + GRACE_MS;
  }

  /** Node restarts a socket's timeout with every byte, so this costs nothing per statement. */
  watch(client: Client): void {
    this.openedAt.set(client, performance.now());
    const stream = streamOf(client);
    stream.setTimeout(this.limitMs);
    stream.on('timeout', () => {
      const { readyForQuery, _ending: isEnding } = internals(client);
      if (readyForQuery && !isEnding) return;
      // Makes pg reject the running statement, and knex discard the connection.
      stream.destroy(new SilentServerError(stream.timeout ?? this.limitMs));
      this.replaceOpenedBefore = performance.now();
    });
  }

  /** False for connections as old as a silent one: they probably use the same dead network path, so the pool replaces them. */
  isUsable(client: Client): boolean {
    return (this.openedAt.get(client) ?? 0) >= this.replaceOpenedBefore;
  }
}

// A transaction shares its pool's config object, so this finds the watch from either.
const watches = new WeakMap<object, SilenceWatch>();
const declaredTimeouts = new WeakMap<Db, number>();

export const registerWatch = (db: Db, watch: SilenceWatch): void => void watches.set(db.client.config, watch);

/** Returns the same pool, with another `statement_timeout` in the transactions that `inTransaction` opens on it. */
export function withStatementTimeout(db: Db, ms: number): Db {
  const handle: Db = new Proxy(db, {});
  declaredTimeouts.set(handle, ms);
  return handle;
}

export const declaredTimeoutOf = (db: Db): number | undefined => declaredTimeouts.get(db);

/** Limits each further statement of the transaction. `'default'` restores the limit of its pool. */
export async function limitStatements(trx: Db, ms: number | 'default'): Promise<void> {
  await allowSilence(trx, ms);
  await queryRows(trx, sqlText(`set local statement_timeout to ${ms === 'default' ? 'default' : Math.round(ms)}`));
}

/** Lets the client wait as long as a transaction's `statement_timeout`, until the transaction ends. */
export async function allowSilence(trx: Db, ms: number | 'default'): Promise<void> {
  const watch = watches.get(trx.client.config);
  if (!watch) return;
  const client: Client = await trx.client.acquireConnection();
  const stream = streamOf(client);
  stream.setTimeout(ms === 'default' ? watch.limitMs : Math.max(ms + GRACE_MS, watch.limitMs));
  const restore = () => void stream.setTimeout(watch.limitMs);
  if (ms !== 'default') (trx as Knex.Transaction).executionPromise.then(restore, restore);
}

/** Closes the connection in an orderly way, but does not wait for a silent server. */
export async function closeClient(client: Client): Promise<void> {
  const stream = streamOf(client);
  const timer = setTimeout(() => stream.destroy(), CLOSE_MS);
  await client.end().catch(() => {});
  clearTimeout(timer);
}
