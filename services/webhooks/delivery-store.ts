import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { WebhookMessage } from './request.ts';

/** A delivery that is due, with its payload. */
export interface DueDelivery extends WebhookMessage {
  id: string;
  /** As text: a Date has no microseconds. */
  createdAt: string;
  dueAt: string;
  attempts: number;
  attemptsBefore: number;
}

interface DueRow {
  id: string;
  event_id: string;
  type: string;
  attempts: number;
  attempts_before: number;
  created_at: string;
  due_at: string;
  data: string;
  truncated: boolean;
  happened_at: string;
}

// In the order of the index, after the last one of the page before. The inner limit makes the planner look up each event.
const due = statement<DueRow>(
  'webhooks-due',
  `select d.id, d.event_id, d.type, d.attempts, d.attempts_before, d.created_at::text, d.next_attempt_at::text as due_at,
     e.data::text as data, coalesce(e.data -> 'truncated' = 'true', false) as truncated,
     json_time(e.happened_at) as happened_at
   from webhook_deliveries d
   cross join lateral (
     select * from webhook_events where id = d.event_id and created_at = d.created_at limit 1) e
   where d.endpoint_id = $1 and d.status = 'PENDING' and d.next_attempt_at <= $2
     and (d.next_attempt_at, d.id) > ($3::timestamptz, $4::uuid) and d.created_at > $2 - interval '30 days'
   order by d.next_attempt_at, d.id limit $5`,
);

const FIRST = ['-infinity', '00000000-0000-0000-0000-000000000000'] as const;

/** Returns the next due deliveries of an endpoint. */
export async function dueDeliveries(
  db: Db,
  endpointId: string,
  now: Date,
  limit: number,
  after?: Pick<DueDelivery, 'dueAt' | 'id'>,
): Promise<DueDelivery[]> {
  const [dueAt, id] = after ? [after.dueAt, after.id] : FIRST;
  const rows = await due(db, [endpointId, now, dueAt, id, limit]);
  return rows.map((row) => ({
    id: row.id,
    eventId: row.event_id,
    type: row.type,
    attempts: row.attempts,
    attemptsBefore: row.attempts_before,
    createdAt: row.created_at,
    dueAt: row.due_at,
    data: row.data,
    truncated: row.truncated,
    timestamp: row.happened_at,
  }));
}

/** The result of an attempt, as it is written. */
export interface StoredCallResult {
  id: string;
  created_at: string;
  /** Of the delivery before this attempt: a result that was overtaken is dropped. */
  attempts: number;
  status: 'PENDING' | 'DELIVERED' | 'FAILED';
  next_attempt_at: Date | null;
  status_code: number | null;
  error: string | null;
  delivered_at: Date | null;
  attempt: object;
}

/** Older attempts are dropped from the log: deliveries can be recovered again and again. */
const MAX_LOG = 50;

// The ids and the range of time let Postgres look the rows up in the right partitions. Arrays are read in a fifth of the
// time that the same as JSON takes.
const write = statement(
  'webhooks-results',
  `update webhook_deliveries d
   set status = r.status, attempts = d.attempts + 1, next_attempt_at = r.next_attempt_at,
     last_status_code = r.status_code, last_error = r.error, delivered_at = r.delivered_at,
     attempt_log = case when jsonb_array_length(d.attempt_log) >= ${MAX_LOG} then d.attempt_log - 0 else d.attempt_log end
       || r.attempt
   from unnest($1::uuid[], $2::timestamptz[], $3::integer[], $4::text[], $5::timestamptz[], $6::integer[], $7::text[],
     $8::timestamptz[], $9::jsonb[])
     as r (id, created_at, attempts, status, next_attempt_at, status_code, error, delivered_at, attempt)
   where d.id = any ($1::uuid[]) and d.created_at between $10::timestamptz and $11::timestamptz
     and d.id = r.id and d.created_at = r.created_at and d.attempts = r.attempts and d.status = 'PENDING'`,
);

/** In the order of the parameters. */
const columns = [
  'id',
  'created_at',
  'attempts',
  'status',
  'next_attempt_at',
  'status_code',
  'error',
  'delivered_at',
] as const;

export async function writeResults(db: Db, results: StoredCallResult[]): Promise<void> {
  const times = results.map(({ created_at }) => created_at).sort();
  await write(db, [
    ...columns.map((column) => results.map((result) => result[column])),
    results.map(({ attempt }) => JSON.stringify(attempt)),
    ...[times[0], times.at(-1)],
  ]);
}

interface NextDue {
  next_at: Date | null;
  /** Whether a delivery that has failed waits for its next attempt. */
  retries: boolean;
}

const nextDue = statement<NextDue>(
  'webhooks-next-due',
  `select min(next_attempt_at) as next_at, coalesce(bool_or(attempts > attempts_before), false) as retries
   from (
     select next_attempt_at, attempts, attempts_before from webhook_deliveries
     where endpoint_id = $1 and status = 'PENDING' and next_attempt_at is not null
       and created_at > $2::timestamptz - interval '30 days'
     order by next_attempt_at limit 100
   ) first`,
);

/** Returns when the next delivery of an endpoint is due. */
export async function nextDueDelivery(db: Db, endpointId: string, now: Date): Promise<NextDue> {
  const [next] = await nextDue(db, [endpointId, now]);
  return next ?? { next_at: null, retries: false };
}
