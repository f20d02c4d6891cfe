import { setTimeout as sleep } from 'node:timers/promises';
import { databaseCauseOf } from '../platform/database-errors.ts';
import { doctorAdvice } from '../platform/doctor-advice.ts';
import type { Logger } from '../platform/logger.ts';
import { type PartStatus, type Readiness, readinessOf } from '../platform/probes.ts';
import { processTimings, type Timings } from '../platform/timings.ts';
import type { Db } from './connect.ts';
import { hasFullDisk } from './full-disk.ts';
import { pendingMigrations } from './migrate.ts';

const PROBE_TIMEOUT_MS = 1_500;
/** The check reads every sealed secret. */
const SECRETS_CACHE_MS = 60_000;

/** Refuses to start a process on tables that it does not know. */
export async function refusePendingMigrations(db: Db): Promise<void> {
  const pending = await pendingMigrations(db);
  if (pending.length > 0)
    throw new Error(`The database lacks the migrations ${pending.join(', ')}: run npm run migrate, then start again.`);
}

const LOG_MS = 60_000;
/** Of Postgres: too many connections, starting up, shutting down. Node's own codes begin with E. */
const TEMPORARY = /^(53300|57P0[123]|08...|E[A-Z]+)$/;

/**
 * Waits for the database, then refuses pending migrations. A database that is starting or has no connection left is waited
 * for, so that processes may start in any order; a wrong password or name is an error at once.
 */
export async function waitForDatabase(
  db: Db,
  log: Pick<Logger, 'warn' | 'info'>,
  timings = processTimings,
): Promise<void> {
  let toldAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      await refusePendingMigrations(db);
      if (toldAt > Number.NEGATIVE_INFINITY) log.info('the database answers');
      return;
    } catch (err) {
      if (!isTemporary(err)) throw err;
      if (performance.now() - toldAt > LOG_MS) {
        log.warn(
          { cause: databaseCauseOf(err) ?? String(err), advice: doctorAdvice },
          'cannot connect to the database; waiting for it',
        );
        toldAt = performance.now();
      }
      await sleep(timings.database.wait);
    }
  }
}

function isTemporary(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isTemporary);
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return TEMPORARY.test(String(code)) || /timeout|terminated unexpectedly/i.test(error.message);
}

export interface ReadinessOptions {
  /** Of a worker. */
  isPolling?: () => boolean;
  /** Of a worker. */
  opensSecrets?: () => Promise<boolean>;
  timings?: Timings;
}

/**
 * Reports whether a process may be given work. Without the database or a migration it is down. Without Temporal an API is
 * degraded: accepted work is safe in the database and waits. With a full disk, the database still answers what only reads,
 * so a process is degraded. A worker is down when it does not poll its task queues, and
 * degraded when it cannot open stored secrets: mail that it cannot sign waits.
 */
export function createReadiness(
  db: Db,
  checkTemporal: () => Promise<boolean>,
  { isPolling, opensSecrets, timings = processTimings }: ReadinessOptions = {},
): () => Promise<Readiness> {
  const { cache, temporalCache } = timings.readiness;
  const temporal = cached(async () => (await withTimeout(checkTemporal(), false)) || false, temporalCache);
  const secrets = opensSecrets && cached(() => withTimeout(opensSecrets(), true), SECRETS_CACHE_MS);
  const check = async () => {
    const [database, temporalAnswers, areOpened] = await Promise.all([databaseParts(db), temporal(), secrets?.()]);
    const ofWorker: Record<string, PartStatus> = {
      ...(isPolling && { polling: temporalAnswers && isPolling() ? 'ok' : 'down' }),
      ...(secrets && { secrets: areOpened ? 'ok' : 'degraded' }),
    };
    const readiness = readinessOf({ ...database, temporal: temporalAnswers ? 'ok' : 'degraded', ...ofWorker });
    return hasFullDisk(db) ? { ...readiness, reason: "The database's disk is full." } : readiness;
  };
  // Cached because /ready is public: its cost must not grow with the number of calls. `down` is not cached, so that a process
  // gets requests again as soon as it can take them; checks never overlap.
  return cached(check, cache, ({ status }) => status !== 'down');
}

async function databaseParts(db: Db): Promise<{ database: PartStatus; migrations: PartStatus }> {
  const pending = await withTimeout(pendingMigrations(db), undefined);
  if (!pending) return { database: 'down', migrations: 'down' };
  return { database: hasFullDisk(db) ? 'degraded' : 'ok', migrations: pending.length > 0 ? 'down' : 'ok' };
}

/** Answers with the fallback, because a probe that hangs is worse than one that fails. */
async function withTimeout<T, F>(work: Promise<T>, fallback: F): Promise<T | F> {
  const timeout = new AbortController();
  try {
    return await Promise.race([
      work.catch(() => fallback),
      sleep(PROBE_TIMEOUT_MS, fallback, { signal: timeout.signal }),
    ]);
  } finally {
    timeout.abort();
  }
}

/** Concurrent calls share one result, and so do later ones for `cacheMs`. `load` must not reject. */
function cached<T>(load: () => Promise<T>, cacheMs: number, isCacheable = (_: T) => true): () => Promise<T> {
  let result: Promise<T> | undefined;
  let staleAt = Number.POSITIVE_INFINITY;
  return () => {
    if (!result || performance.now() >= staleAt) {
      staleAt = Number.POSITIVE_INFINITY;
      result = load().then((value) => {
        staleAt = isCacheable(value) ? performance.now() + cacheMs : performance.now();
        return value;
      });
    }
    return result;
  };
}
