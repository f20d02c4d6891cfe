import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { signatureHeaders } from '../../platform/crypto/standard-webhooks.ts';
import { newId } from '../../platform/ids.ts';
import { renewWantedTypes } from './endpoints.ts';
import { bodyOf, COMMON_HEADERS, type WebhookMessage } from './request.ts';

/** A delivery as it would be sent, for a developer's machine. */
export interface ListenedDelivery {
  type: string;
  timestamp: string;
  data: unknown;
  headers: Record<string, string>;
  /** The exact text that the signature covers. */
  body: string;
}

const insert = statement(
  'listener-insert',
  'insert into webhook_listeners (project_id, id, types) values ($1, $2, $3)',
);
const touch = statement(
  'listener-touch',
  'update webhook_listeners set seen_at = now() where project_id = $1 and id = $2',
);
const remove = statement('listener-remove', 'delete from webhook_listeners where project_id = $1 and id = $2');
const removeMessages = statement(
  'listener-remove-messages',
  'delete from webhook_listener_messages where project_id = $1 and listener_id = $2',
);

/** Makes the types wanted, and returns the id of the listener. */
export async function openListener(db: Db, projectId: string, types: string[]): Promise<string> {
  const id = newId();
  await inTransaction(db, async (trx) => {
    await insert(trx, [projectId, id, types]);
    await renewWantedTypes(trx, projectId);
  });
  return id;
}

export async function closeListener(db: Db, projectId: string, id: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    await remove(trx, [projectId, id]);
    await renewWantedTypes(trx, projectId);
    await removeMessages(trx, [projectId, id]);
  });
}

/** Keeps the listener from being removed. */
export async function touchListener(db: Db, projectId: string, id: string): Promise<void> {
  await touch(db, [projectId, id]);
}

const MAX_MESSAGES = 100;

const take = statement<{
  id: string;
  eventId: string;
  type: string;
  timestamp: string;
  data: string;
  truncated: boolean;
}>(
  'webhooks-listen',
  `delete from webhook_listener_messages m where m.project_id = $1 and m.id = any (array(
     select o.id from webhook_listener_messages o where o.project_id = $1 and o.listener_id = $2
     order by o.id limit ${MAX_MESSAGES}))
   returning m.id, m.event_id, m.type, json_time(m.happened_at) as timestamp, m.data::text as data,
     coalesce(m.data -> 'truncated' = 'true', false) as truncated`,
);

/** Returns what has happened since the last call, signed with `secret`. */
export async function readListener(
  db: Db,
  projectId: string,
  id: string,
  secret: string,
): Promise<{ deliveries: ListenedDelivery[]; hasMore: boolean }> {
  const rows = await take(db, [projectId, id]);
  rows.sort((a, b) => Number(BigInt(a.id) - BigInt(b.id)));
  const deliveries = rows.map(({ eventId, ...row }) => asSent({ ...row, eventId }, secret));
  return { deliveries, hasMore: rows.length === MAX_MESSAGES };
}

function asSent(message: WebhookMessage, secret: string): ListenedDelivery {
  const body = bodyOf(message);
  const { type, timestamp } = message;
  const signature = signatureHeaders(secret, { id: message.eventId, sentAt: new Date(), body });
  const headers = { ...COMMON_HEADERS, ...signature };
  return { type, timestamp, data: JSON.parse(message.data), headers, body };
}
