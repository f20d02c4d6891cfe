import type { Db } from '../../db/connect.ts';
import { roundRobinCtes } from '../../db/round-robin.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { NO_PROJECT, workflowIds } from '../outbox/ids.ts';
import { payloadOf } from '../outbox/write.ts';

/** Transactional mail, then workflow mail. Each has its own batches, so that neither waits for the other. */
export const batchPriorities = [0, 1] as const;

/**
 * A batch costs Temporal about 20 ms of two cores, whatever its size. More batches would not send sooner, and while
 * Temporal or the SMTP relay is unavailable the rest stays in the ledger. As many batches again are reserved for projects
 * without mail in any batch, so that other projects cannot block them.
 */
export const MAX_BATCH = 400;
export const MAX_BATCHES = 8;
export const MAX_WITH_NEWCOMERS = 2 * MAX_BATCHES;

const fold = statement<{ count: number }>(
  'emails-fold',
  `with recursive open as (
     select count(*) as batches from delivery_batches b where b.priority = $1::smallint
   ),
   busy as materialized (
     select distinct e.project_id from delivery_batches b
     join emails e on e.batch_id = b.id and e.status in ('PENDING', 'SENDING') and b.priority = $1::smallint
   ),
   ${roundRobinCtes({
     table: 'emails',
     waiting: "q.priority = $1::smallint and q.status = 'PENDING' and q.batch_id is null",
     // Of the project and not of its rows, so that one look passes over all of them.
     eligible: `((select batches from open) < $3::integer or taker.project_id not in (select project_id from busy))`,
     when: '(select batches from open) < $8::integer',
     limit: '$2::integer',
   })},
   batch as (
     insert into delivery_batches (id, priority)
     select $4::uuid, $1::smallint where exists (select 1 from mine)
     returning id
   ),
   intent as (
     insert into outbox (queue, project_id, workflow_id, action, payload)
     select 'mail', $5::uuid, $6::text, 'start', $7::jsonb from batch
   ),
   -- As an array, and not joined: the planner would rather read all of a ledger that is not huge.
   folded as (
     update emails set batch_id = $4::uuid where id = any (array(select id from mine)) returning 1
   )
   select count(*)::integer as count from folded`,
);

/**
 * Puts due mail into one batch, projects in round-robin, and writes the outbox message that starts its delivery, in one
 * statement. Returns the number of mails; creates no batch for none.
 */
export async function batchDueMail(db: Db, priority: (typeof batchPriorities)[number]): Promise<number> {
  const batchId = newId();
  const payload = payloadOf({ action: 'start', workflowType: 'delivery', args: [{ batchId }], resourceId: batchId });
  const [row] = await fold(db, [
    priority,
    MAX_BATCH,
    MAX_BATCHES,
    batchId,
    NO_PROJECT,
    workflowIds.delivery(batchId),
    payload,
    MAX_WITH_NEWCOMERS,
  ]);
  return row?.count ?? 0;
}
