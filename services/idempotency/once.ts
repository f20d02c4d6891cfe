import { isDeepStrictEqual } from 'node:util';
import { confirmed } from '../../db/coalesce-writes.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { ApiError, badRequest } from '../../platform/errors.ts';

export interface KeyedRequest {
  projectId: string;
  /** The header's value; undefined when it was absent. */
  key: string | undefined;
  /** For example `POST /v1/send`. */
  request: string;
  ttlHours: number;
}

type RequestWithKey = KeyedRequest & { key: string };

export interface Done<T> {
  result: T;
  statusCode: number;
  /** Ids for a client that lost the response. */
  response: Record<string, unknown>;
}

interface KeyRow {
  request: string;
  statusCode: number;
  response: Record<string, unknown>;
  createdAt: Date;
}

const tryLock = statement<{ acquired: boolean }>(
  'idempotency-lock',
  'select pg_try_advisory_xact_lock(hashtextextended($1::text, 0)) as acquired',
);

const find = statement<KeyRow>(
  'idempotency-find',
  `select request, status_code, response, created_at from idempotency_keys
   where project_id = $1 and key = $2 and created_at > now() - make_interval(secs => $3)`,
);

const store = statement(
  'idempotency-store',
  `insert into idempotency_keys (project_id, key, request, status_code, response)
   values ($1::uuid, $2::text, $3::text, $4::integer, $5::jsonb)
   on conflict (project_id, key) do update
     set request = excluded.request, status_code = excluded.status_code, response = excluded.response, created_at = now()`,
);

/**
 * Runs `work` unless its key has been used. The key commits with the work: a failure before the commit leaves it free.
 * The lock shows a second request that the first is still running.
 */
export async function once<T>(db: Db, keyed: KeyedRequest, work: (db: Db) => Promise<Done<T>>): Promise<T> {
  const { key } = keyed;
  if (key === undefined) return (await work(db)).result;
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    throw badRequest('The Idempotency-Key header must be 1 to 255 printable ASCII characters.');
  let done: Done<T> | undefined;
  const workAndRemember = async (trx: Db) => {
    done = await work(trx);
    return done;
  };
  return confirmed(
    db,
    () => retryDeadlocks(db, () => inTransaction(db, (trx) => runLocked(trx, { ...keyed, key }, workAndRemember))),
    async () => (done && (await isStored(db, { ...keyed, key }, done)) ? done.result : undefined),
  );
}

/** Returns whether the stored response is that of this work, and not of a later request with the same key. */
async function isStored<T>(
  db: Db,
  { projectId, key, ttlHours }: RequestWithKey,
  { response }: Done<T>,
): Promise<boolean> {
  const [used] = await find(db, [projectId, key, ttlHours * 3600]);
  return used !== undefined && isDeepStrictEqual(used.response, JSON.parse(JSON.stringify(response)));
}

async function runLocked<T>(
  trx: Db,
  { projectId, key, request, ttlHours }: RequestWithKey,
  work: (db: Db) => Promise<Done<T>>,
): Promise<T> {
  const [lock] = await tryLock(trx, [`${projectId}/${key}`]);
  if (!lock?.acquired) throw reused(key, request);
  const [used] = await find(trx, [projectId, key, ttlHours * 3600]);
  if (used) throw reused(key, request, used);
  const { result, statusCode, response } = await work(trx);
  await store(trx, [projectId, key, request, statusCode, JSON.stringify(response)]);
  return result;
}

function reused(key: string, request: string, used?: KeyRow): ApiError {
  const message = used
    ? 'This Idempotency-Key was already used, and that request has completed.'
    : 'A request with this Idempotency-Key is still in progress.';
  // Callers of another route do not see the ids: the public key must not learn what the secret key has created.
  const response = used?.request === request ? used.response : null;
  return new ApiError(409, 'IDEMPOTENCY_KEY_REUSED', message, {
    details: {
      key,
      originalRequest: used?.request ?? null,
      originalRequestAt: used?.createdAt.toISOString() ?? null,
      originalStatusCode: used?.statusCode ?? null,
      originalResponse: response,
    },
    suggestion: suggestionFor(used, response),
  });
}

function suggestionFor(used: KeyRow | undefined, response: KeyRow['response'] | null): string {
  if (!used) return 'Try again in a moment.';
  return response
    ? 'Find its result by the IDs in details.originalResponse, or use a new key for a new request.'
    : 'Use another key. Keys are unique per project, not per route.';
}

const SWEEP_CHUNK = 10_000;

const removeExpired = statement(
  'idempotency-remove-expired',
  `delete from idempotency_keys where ctid = any (array(
     select ctid from idempotency_keys where created_at <= now() - make_interval(secs => $1) limit $2))`,
);

/** Removes expired keys in chunks, so that a backlog is not one long transaction. */
export async function sweepKeys(db: Db, ttlHours: number): Promise<number> {
  let swept = 0;
  for (;;) {
    const removed = await removeExpired.count(db, [ttlHours * 3600, SWEEP_CHUNK]);
    swept += removed;
    if (removed < SWEEP_CHUNK) return swept;
  }
}
