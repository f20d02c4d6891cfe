import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

/** After so many failures of its own a row is set aside for a person to look at. */
export const MAX_ATTEMPTS = 10;
const UNREACHABLE_SECONDS = 2;
const ERROR_LENGTH = 1_000;

export interface FailedMessage {
  id: string;
  error: string;
}

export interface Settlement {
  done: string[];
  /** It is the row that is at fault. */
  failed: FailedMessage[];
  /** Nobody was there to take it: no fault of the row. */
  unreachable: FailedMessage[];
}

const remove = statement('outbox-done', 'delete from outbox where id = any($1::bigint[])');

// Waits of 1, 2, 4 … seconds: some eight minutes before a row is parked.
const fail = statement<{ id: string; parked: boolean }>(
  'outbox-fail',
  `update outbox set
     attempts = attempts + 1,
     last_error = failed.error,
     due_at = now() + make_interval(secs => power(2, least(attempts, 9))),
     parked_at = case when attempts + 1 >= $3 then now() end
   from unnest($1::bigint[], $2::text[]) as failed (id, error)
   where outbox.id = failed.id
   returning outbox.id, parked_at is not null as parked`,
);

const putBack = statement(
  'outbox-put-back',
  `update outbox set due_at = now() + make_interval(secs => $3), last_error = unreached.error
   from unnest($1::bigint[], $2::text[]) as unreached (id, error)
   where outbox.id = unreached.id`,
);

/** Writes down how a claim went. Gives back the ids of rows that were parked by it. */
export async function resolveOutboxMessages(db: Db, { done, failed, unreachable }: Settlement): Promise<string[]> {
  if (done.length > 0) await remove(db, [done]);
  if (unreachable.length > 0) await putBack(db, [...columnsOf(unreachable), UNREACHABLE_SECONDS]);
  if (failed.length === 0) return [];
  const rows = await fail(db, [...columnsOf(failed), MAX_ATTEMPTS]);
  return rows.filter(({ parked }) => parked).map(({ id }) => id);
}

const columnsOf = (rows: FailedMessage[]) => [
  rows.map(({ id }) => id),
  rows.map(({ error }) => error.replaceAll('\0', '').slice(0, ERROR_LENGTH)),
];

/** Gives parked rows another full round of attempts. Without ids: all of them. */
export async function unparkOutboxMessages(db: Db, ids?: string[]): Promise<number> {
  return db('outbox')
    .whereNotNull('parkedAt')
    .modify((query) => ids && query.whereIn('id', ids))
    .update({ parkedAt: null, attempts: 0, dueAt: db.fn.now() });
}
