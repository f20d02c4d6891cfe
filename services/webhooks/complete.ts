import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

/** An event whose data names a resource and what changed about it. */
export interface IncompleteEvent {
  type: string;
  projectId: string;
  /** What the trigger has stored. It wins over the resource as it is now. */
  data: Record<string, unknown> & { id: string };
}

/** Returns the whole data of an event, as GET shows the resource, or undefined when it no longer exists. */
export type Complete = (db: Db, event: IncompleteEvent) => Promise<object | undefined>;

interface Row {
  queueId: string;
  projectId: string;
  eventId: string;
  createdAt: string;
  type: string;
  data: IncompleteEvent['data'];
}

const CHUNK = 50;

const take = statement<Row>(
  'webhooks-incomplete',
  `select q.id as queue_id, q.project_id, q.event_id, q.event_created_at::text as created_at, e.type, e.data
   from webhook_queue q join webhook_events e on e.id = q.event_id and e.created_at = q.event_created_at
   where q.incomplete order by q.id limit ${CHUNK} for update of q skip locked`,
);

const store = statement(
  'webhooks-complete',
  `with stored as (
     update webhook_events set data = cut_webhook_data(data || $4::jsonb)
     where id = $2 and created_at = $3::timestamptz and project_id = $5
   )
   update webhook_queue set incomplete = false where id = $1`,
);

/** Completes queued events of resources that SQL cannot show. Returns how many. */
export async function completeWebhookEvents(db: Db, complete: Complete): Promise<number> {
  return inTransaction(db, async (trx) => {
    const rows = await take(trx, []);
    for (const { queueId, projectId, eventId, createdAt, type, data } of rows) {
      const resource = await complete(trx, { type, projectId, data });
      await store(trx, [queueId, eventId, createdAt, JSON.stringify({ ...resource, ...data }), projectId]);
    }
    return rows.length;
  });
}
