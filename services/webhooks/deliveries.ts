import type { Db } from '../../db/connect.ts';
import { WebhookEndpoint } from '../../db/models/webhook-endpoint.ts';
import { type Fragment, joined, sql, sqlText } from '../../db/sql.ts';
import { queryRows, statement } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { ApiError, notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { type CursorPage, countList, cutPage, UNCOUNTED } from '../paging.ts';
import { findEnabledEndpoint, findEndpoint, wakeEndpoint } from './endpoints.ts';
import { TEST_TYPE } from './types.ts';

export const deliveryStatuses = ['PENDING', 'DELIVERED', 'FAILED', 'DISCARDED'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

export interface WebhookAttempt {
  number: number;
  startedAt: string;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
  /** The beginning of the receiver's answer. */
  answer: string | null;
}

export interface Delivery {
  id: string;
  endpointId: string;
  eventId: string;
  type: string;
  status: DeliveryStatus;
  attempts: number;
  nextAttemptAt: Date | null;
  lastStatusCode: number | null;
  lastError: string | null;
  createdAt: Date;
  deliveredAt: Date | null;
}

export interface DeliveryWithPayload extends Delivery {
  payload: { type: string; timestamp: string; data: Record<string, unknown>; truncated?: true };
  attemptLog: WebhookAttempt[];
}

export interface DeliveriesQuery {
  limit: number;
  cursor?: string | undefined;
  status?: DeliveryStatus | undefined;
  type?: string | undefined;
  since?: string | undefined;
}

/** SQL: an open delivery that will never be made. */
const isDiscarded = `d.status = 'PENDING' and (d.created_at < now() - interval '30 days'
  or not exists (select 1 from webhook_endpoints p where p.project_id = d.project_id and p.id = d.endpoint_id))`;

const columns = `d.id, d.endpoint_id, d.event_id, d.type,
  case when ${isDiscarded} then 'DISCARDED' else d.status end as status, d.attempts,
  case when d.status = 'PENDING' and not (${isDiscarded}) then d.next_attempt_at end as next_attempt_at,
  d.last_status_code, d.last_error, d.created_at, d.delivered_at`;

const deliveryNotFound = () => notFound('webhook delivery');

/** Returns the deliveries of an endpoint, newest first. */
export async function listDeliveries(
  db: Db,
  projectId: string,
  endpointId: string,
  keys: SigningKeys,
  { limit, cursor, status, type, since }: DeliveriesQuery,
): Promise<CursorPage<Delivery>> {
  await findEndpoint(db, projectId, endpointId);
  const boundTo = [projectId, 'webhook deliveries', endpointId, status ?? '', type ?? '', since ?? ''];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as string);
  const conditions = [sql`d.project_id = ${projectId} and d.endpoint_id = ${endpointId}`];
  if (status) conditions.push(filterByStatus[status]);
  if (type !== undefined) conditions.push(sql`d.type = ${type}`);
  if (since !== undefined) conditions.push(sql`d.created_at >= ${since}`);
  const filter = joined(conditions, ' and ');
  const rest = after === undefined ? filter : sql`${filter} and d.id < ${after}`;
  const rows = await queryRows<Delivery>(
    db,
    sql`select ${sqlText(columns)} from webhook_deliveries d where ${rest} order by d.id desc limit ${limit + 1}`,
  );
  const total =
    after === undefined ? await countList(db, sql`select 1 from webhook_deliveries d where ${filter}`) : UNCOUNTED;
  return cutPage(rows, { limit, ...total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
}

const filterByStatus: Record<DeliveryStatus, Fragment> = {
  PENDING: sql`d.status = 'PENDING' and not (${sqlText(isDiscarded)})`,
  DELIVERED: sql`d.status = 'DELIVERED'`,
  FAILED: sql`d.status = 'FAILED'`,
  DISCARDED: sqlText(isDiscarded),
};

interface PayloadRow extends Delivery {
  happenedAt: string;
  data: Record<string, unknown>;
  attemptLog: WebhookAttempt[];
}

const find = statement<PayloadRow>(
  'webhook-delivery',
  `select ${columns}, d.attempt_log, json_time(e.happened_at) as happened_at, e.data
   from webhook_deliveries d join webhook_events e on e.id = d.event_id and e.created_at = d.created_at
   where d.project_id = $1 and e.project_id = d.project_id and d.id = $2`,
);

export async function findDelivery(db: Db, projectId: string, id: string): Promise<DeliveryWithPayload> {
  const [row] = await find(db, [projectId, id]);
  if (!row) throw deliveryNotFound();
  const { happenedAt, data, ...delivery } = row;
  const payload = { type: row.type, timestamp: happenedAt, data };
  return { ...delivery, payload: data.truncated === true ? { ...payload, truncated: true } : payload };
}

// A copy of the event is kept as long as its delivery, however old the first one is.
const copyEvent = statement(
  'webhook-delivery-copy',
  `with event as (
     insert into webhook_events (id, project_id, type, contact_id, data, happened_at, created_at)
     select e.id, e.project_id, e.type, e.contact_id, e.data, e.happened_at, clock_timestamp()
     from webhook_deliveries d join webhook_events e on e.id = d.event_id and e.created_at = d.created_at
     where d.project_id = $1 and e.project_id = d.project_id and d.id = $2
     returning *
   )
   insert into webhook_deliveries (id, project_id, endpoint_id, event_id, type, next_attempt_at, created_at)
   select $3::uuid, e.project_id, $4::uuid, e.id, e.type, e.created_at, e.created_at from event e`,
);

/** Makes a new delivery of the same event, with the same webhook-id, and returns its id. */
export async function replayDelivery(db: Db, project: ProjectAccess, id: string): Promise<string> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    const { endpointId, status } = await findDelivery(trx, projectId, id);
    const endpoint = await WebhookEndpoint.query(trx).findOne({ projectId, id: endpointId }).select('id');
    if (!endpoint)
      throw new ApiError(409, 'CONFLICT', `The endpoint of this delivery (${status}) was deleted.`, {
        suggestion: 'Create a new endpoint; only deliveries of existing endpoints can be replayed.',
      });
    const deliveryId = newId();
    await copyEvent(trx, [projectId, id, deliveryId, endpointId]);
    await wakeEndpoint(trx, projectId, endpointId);
    return deliveryId;
  });
}

const insertTest = statement(
  'webhook-test',
  `with event as (
     insert into webhook_events (id, project_id, type, data)
     values ($3::uuid, $1::uuid, '${TEST_TYPE}', jsonb_build_object('projectId', $1::uuid, 'endpointId', $2::uuid,
       'message', 'This is a test.', 'position', nextval('event_positions')))
     returning *
   )
   insert into webhook_deliveries (id, project_id, endpoint_id, event_id, type, next_attempt_at, created_at)
   select $4::uuid, e.project_id, $2::uuid, e.id, e.type, e.created_at, e.created_at from event e`,
);

/** Sends `webhook.test` to one endpoint, whatever its types are, and returns the id of the delivery. */
export async function testEndpoint(db: Db, project: ProjectAccess, endpointId: string): Promise<string> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    await findEnabledEndpoint(trx, projectId, endpointId);
    const eventId = newId();
    const deliveryId = newId();
    await insertTest(trx, [projectId, endpointId, eventId, deliveryId]);
    await wakeEndpoint(trx, projectId, endpointId);
    return deliveryId;
  });
}

const RECOVER_CHUNK = 5_000;

// What was wanted while the endpoint was disabled has no time. The schedule of retries starts again.
const recover = statement<{ id: string }>(
  'webhooks-recover',
  `update webhook_deliveries d
   set status = 'PENDING', next_attempt_at = now(), attempts_before = d.attempts
   where d.project_id = $1 and d.id = any (array(
     select o.id from webhook_deliveries o
     where o.project_id = $1 and o.endpoint_id = $2 and o.created_at >= $3 and o.created_at <= $4
       and o.created_at > now() - interval '30 days'
       and (o.status = 'FAILED' or o.status = 'PENDING' and o.next_attempt_at is null)
     order by o.id limit ${RECOVER_CHUNK} for update skip locked))
     and d.created_at >= $3 and d.created_at <= $4
   returning d.id`,
);

/** Makes failed and missed deliveries of a range due again, some at a time, and returns how many. */
export async function recoverDeliveries(
  db: Db,
  project: ProjectAccess,
  endpointId: string,
  { since, until = new Date() }: { since: Date; until?: Date | undefined },
): Promise<number> {
  const { projectId } = project;
  await findEnabledEndpoint(db, projectId, endpointId);
  let count = 0;
  for (let recovered = RECOVER_CHUNK; recovered === RECOVER_CHUNK; count += recovered)
    recovered = await writing(db, project, async (trx) => {
      const rows = await recover(trx, [projectId, endpointId, since, until]);
      if (rows.length > 0) await wakeEndpoint(trx, projectId, endpointId);
      return rows.length;
    });
  return count;
}
