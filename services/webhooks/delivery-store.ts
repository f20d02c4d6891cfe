import type { Db } from '../../db/connect.ts';
import { plainArray, statement } from '../../db/statement.ts';
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

const due = statement<DueDelivery>(
  'webhooks-due',
  `select id, event_id, type, attempts, attempts_before, created_at, due_at, data, truncated, happened_at as timestamp
   from due_webhook_deliveries($1, $2, $3, $4, $5)`,
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
  return due(db, [endpointId, now, dueAt, id, limit]);
}

/** The result of an attempt, as it is written. */
export interface StoredCallResult {
  id: string;
  createdAt: string;
  /** Of the delivery before this attempt: a result that was overtaken is dropped. */
  attempts: number;
  status: 'PENDING' | 'DELIVERED' | 'FAILED';
  nextAttemptAt: Date | null;
  statusCode: number | null;
  error: string | null;
  deliveredAt: Date | null;
  attempt: object;
}

/** Attempts in the log of a delivery. */
const MAX_LOG = 50;

const write = statement('webhooks-results', 'select write_webhook_results($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)');

export async function writeResults(db: Db, results: StoredCallResult[]): Promise<void> {
  await write(db, [
    plainArray(results.map(({ id }) => id)),
    plainArray(results.map(({ createdAt }) => createdAt)),
    plainArray(results.map(({ attempts }) => attempts)),
    plainArray(results.map(({ status }) => status)),
    plainArray(results.map(({ nextAttemptAt }) => nextAttemptAt?.toISOString() ?? 'NULL')),
    plainArray(results.map(({ statusCode }) => statusCode ?? 'NULL')),
    results.map(({ error }) => error),
    plainArray(results.map(({ deliveredAt }) => deliveredAt?.toISOString() ?? 'NULL')),
    results.map(({ attempt }) => JSON.stringify(attempt)),
    MAX_LOG,
  ]);
}

interface NextDue {
  nextAt: Date | null;
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
  return next ?? { nextAt: null, retries: false };
}
