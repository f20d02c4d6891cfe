import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { turnCtes } from '../../db/turns.ts';
import { newId } from '../../platform/ids.ts';
import { NO_PROJECT, workflowIds } from '../outbox/ids.ts';
import { payloadOf } from '../outbox/write.ts';

/** Transactional mail, then that of workflows; each has batches of its own, so that neither waits for the other. */
export const foldedPriorities = [0, 1] as const;

/**
 * A batch costs Temporal some twenty milliseconds, whatever is in it. More mail in batches would not be sent sooner,
 * but new mail would wait longer behind it; and while Temporal or the SMTP server is away the rest stays in the ledger.
 */
export const MAX_BATCH = 200;
export const MAX_BATCHES = 8;

const fold = statement<{ count: number }>(
  'emails-fold',
  `with recursive ${turnCtes({
    table: 'emails',
    waiting: "q.priority = $1::smallint and q.status = 'PENDING' and q.batch_id is null",
    when: '(select count(*) < $3::integer from delivery_batches b where b.priority = $1::smallint)',
    limit: '$2::integer',
  })},
   batch as (
     insert into delivery_batches (id, priority)
     select $4::uuid, $1::smallint where exists (select 1 from mine)
     returning id
   ),
   intent as (
     insert into outbox (lane, project_id, workflow_id, action, payload)
     select 'mail', $5::uuid, $6::text, 'start', $7::jsonb from batch
   ),
   folded as (
     update emails set batch_id = $4::uuid from mine where emails.id = mine.id returning 1
   )
   select count(*)::integer as count from folded`,
);

/**
 * Folds mail that is due into one batch, projects taking turns, and writes down that Temporal shall deliver it: one
 * statement, so all of it or nothing. Gives back how many mails there were; none makes no batch.
 */
export async function foldDueMail(db: Db, priority: (typeof foldedPriorities)[number]): Promise<number> {
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
  ]);
  return row?.count ?? 0;
}
