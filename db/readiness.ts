import { setTimeout as sleep } from 'node:timers/promises';
import { type PartStatus, type Readiness, readinessOf } from '../platform/probes.ts';
import type { Db } from './connect.ts';
import { pendingMigrations } from './migrate.ts';

const PATIENCE_MS = 1_500;
/** Temporal is asked at most this often, however many probes come. */
const TEMPORAL_FRESH_MS = 3_000;
/**
 * Anybody may call /ready, so its cost does not grow with the number of calls. `down` is not kept, so that a process takes
 * requests again as soon as it can; there is still one check at a time.
 */
const FRESH_MS = 1_000;

/** No process works on tables that it does not know. */
export async function refusePendingMigrations(db: Db): Promise<void> {
  const pending = await pendingMigrations(db);
  if (pending.length > 0)
    throw new Error(`The database lacks the migrations ${pending.join(', ')}: run npm run migrate, then start again.`);
}

/**
 * Whether a process may be given work. The database and its migrations decide. Temporal only degrades: what is accepted
 * is safe in the database, and waits.
 */
export function createReadiness(db: Db, checkTemporal: () => Promise<boolean>): () => Promise<Readiness> {
  const temporal = remembered(async () => (await within(checkTemporal(), false)) || false, TEMPORAL_FRESH_MS);
  const check = async () => {
    const [database, temporalAnswers] = await Promise.all([databaseParts(db), temporal()]);
    return readinessOf({ ...database, temporal: temporalAnswers ? 'ok' : 'degraded' });
  };
  return remembered(check, FRESH_MS, ({ status }) => status !== 'down');
}

async function databaseParts(db: Db): Promise<{ database: PartStatus; migrations: PartStatus }> {
  const pending = await within(pendingMigrations(db), undefined);
  if (!pending) return { database: 'down', migrations: 'down' };
  return { database: 'ok', migrations: pending.length > 0 ? 'down' : 'ok' };
}

/** A probe that hangs is worse than one that fails. */
async function within<T, F>(work: Promise<T>, fallback: F): Promise<T | F> {
  const late = new AbortController();
  try {
    return await Promise.race([work.catch(() => fallback), sleep(PATIENCE_MS, fallback, { signal: late.signal })]);
  } finally {
    late.abort();
  }
}

/** Calls share the answer that is on its way, and for `freshMs` the one that has come. `ask` must not reject. */
function remembered<T>(ask: () => Promise<T>, freshMs: number, isKept = (_: T) => true): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let staleAt = Number.POSITIVE_INFINITY;
  return () => {
    if (!answer || performance.now() >= staleAt) {
      staleAt = Number.POSITIVE_INFINITY;
      answer = ask().then((value) => {
        staleAt = isKept(value) ? performance.now() + freshMs : performance.now();
        return value;
      });
    }
    return answer;
  };
}
