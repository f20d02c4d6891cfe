import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { processTimings } from '../../platform/timings.ts';

/** A row that has failed this often is parked for an operator. */
export const MAX_ATTEMPTS = 10;
const ERROR_LENGTH = 1_000;

export interface FailedMessage {
  id: string;
  error: string;
}

/** The results of a claim. */
export interface OutboxResults {
  done: string[];
  /** Failed because of the row itself: counts an attempt. */
  failed: FailedMessage[];
  /** Temporal was unavailable: counts no attempt. */
  unreachable: FailedMessage[];
}

const remove = statement('outbox-done', 'delete from outbox where id = any($1::bigint[])');

// Backs off for 1, 2, 4 … seconds: about eight minutes until a row is parked.
const recordFailures = statement<{ id: string; parked: boolean }>(
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

const delay = statement(
  'outbox-delay',
  `update outbox set due_at = now() + make_interval(secs => $3), last_error = unreachable.error
   from unnest($1::bigint[], $2::text[]) as unreachable (id, error)
   where outbox.id = unreachable.id`,
);

/** Stores the results of a claim. Returns the ids of rows that are parked now. */
export async function resolveOutboxMessages(
  db: Db,
  { done, failed, unreachable }: OutboxResults,
  unreachableMs = processTimings.outboxClaim.unreachable,
): Promise<string[]> {
  if (done.length > 0) await remove(db, [done]);
  if (unreachable.length > 0) await delay(db, [...columnsOf(unreachable), unreachableMs / 1_000]);
  if (failed.length === 0) return [];
  const rows = await recordFailures(db, [...columnsOf(failed), MAX_ATTEMPTS]);
  return rows.filter(({ parked }) => parked).map(({ id }) => id);
}

const columnsOf = (rows: FailedMessage[]) => [
  rows.map(({ id }) => id),
  rows.map(({ error }) => error.replaceAll('\0', '').slice(0, ERROR_LENGTH)),
];

const unpark = statement(
  'outbox-unpark',
  'update outbox set parked_at = null, attempts = 0, due_at = now() where parked_at is not null and id = any ($1::bigint[])',
);

/** Makes parked rows due again with all their attempts. */
export async function unparkOutboxMessages(db: Db, ids: string[]): Promise<number> {
  return unpark.count(db, [ids]);
}
