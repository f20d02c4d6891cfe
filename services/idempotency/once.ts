import { isDeepStrictEqual } from 'node:util';
import { confirmed } from '../../db/confirm.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { ApiError, badRequest } from '../../platform/errors.ts';

export interface KeyedRequest {
  projectId: string;
  /** The header as it came; undefined when there was none. */
  key: string | undefined;
  /** E.g. `POST /v1/send`. */
  request: string;
  ttlHours: number;
}

type ClaimedRequest = KeyedRequest & { key: string };

export interface Done<T> {
  result: T;
  statusCode: number;
  /** Ids that help a client that lost the answer. */
  response: Record<string, unknown>;
}

interface KeyRow {
  request: string;
  status_code: number;
  response: Record<string, unknown>;
  created_at: Date;
}

const tryLock = statement<{ mine: boolean }>(
  'idempotency-lock',
  'select pg_try_advisory_xact_lock(hashtextextended($1::text, 0)) as mine',
);

const find = statement<KeyRow>(
  'idempotency-find',
  `select request, status_code, response, created_at from idempotency_keys
   where project_id = $1 and key = $2 and created_at > now() - make_interval(secs => $3)`,
);

const keep = statement(
  'idempotency-keep',
  `insert into idempotency_keys (project_id, key, request, status_code, response)
   values ($1::uuid, $2::text, $3::text, $4::integer, $5::jsonb)
   on conflict (project_id, key) do update
     set request = excluded.request, status_code = excluded.status_code, response = excluded.response, created_at = now()`,
);

/**
 * Does `work` unless its key has been used. The key becomes visible with the work and only with it: whatever goes wrong
 * before the commit leaves it free. The lock tells a second request that the first is still at it.
 */
export async function once<T>(db: Db, keyed: KeyedRequest, work: (db: Db) => Promise<Done<T>>): Promise<T> {
  const { key } = keyed;
  if (key === undefined) return (await work(db)).result;
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    throw badRequest('The header Idempotency-Key must have 1 to 255 printable ASCII characters.');
  let done: Done<T> | undefined;
  const remembering = async (trx: Db) => {
    done = await work(trx);
    return done;
  };
  return confirmed(
    db,
    () => retryDeadlocks(db, () => inTransaction(db, (trx) => claimed(trx, { ...keyed, key }, remembering))),
    async () => (done && (await isKept(db, { ...keyed, key }, done)) ? done.result : undefined),
  );
}

/** Whether the key stands for this very work, and not for that of another request which used the key afterwards. */
async function isKept<T>(
  db: Db,
  { projectId, key, ttlHours }: ClaimedRequest,
  { response }: Done<T>,
): Promise<boolean> {
  const [used] = await find(db, [projectId, key, ttlHours * 3600]);
  return used !== undefined && isDeepStrictEqual(used.response, JSON.parse(JSON.stringify(response)));
}

async function claimed<T>(
  trx: Db,
  { projectId, key, request, ttlHours }: ClaimedRequest,
  work: (db: Db) => Promise<Done<T>>,
): Promise<T> {
  const [lock] = await tryLock(trx, [`${projectId}/${key}`]);
  if (!lock?.mine) throw reused(key);
  const [used] = await find(trx, [projectId, key, ttlHours * 3600]);
  if (used) throw reused(key, used);
  const { result, statusCode, response } = await work(trx);
  await keep(trx, [projectId, key, request, statusCode, JSON.stringify(response)]);
  return result;
}

function reused(key: string, used?: KeyRow): ApiError {
  const message = used
    ? 'This Idempotency-Key has been used; the work it stands for is done.'
    : 'A request with this Idempotency-Key is being worked on at this moment.';
  return new ApiError(409, 'IDEMPOTENCY_KEY_REUSED', message, {
    details: {
      key,
      originalRequest: used?.request ?? null,
      originalRequestAt: used?.created_at.toISOString() ?? null,
      originalStatusCode: used?.status_code ?? null,
      originalResponse: used?.response ?? null,
    },
    suggestion: used
      ? 'Find what it made by the ids in details.originalResponse, or send new work under a new key.'
      : 'Try again in a moment.',
  });
}

const SWEEP = 10_000;

/** Removes keys that no longer count, in parts, so that a backlog never makes one long transaction. */
export async function sweepKeys(db: Db, ttlHours: number): Promise<number> {
  let swept = 0;
  for (;;) {
    const { rowCount } = await db.raw(
      `delete from idempotency_keys where ctid = any (array(
         select ctid from idempotency_keys where created_at <= now() - make_interval(secs => ?) limit ?))`,
      [ttlHours * 3600, SWEEP],
    );
    swept += rowCount;
    if (rowCount < SWEEP) return swept;
  }
}
