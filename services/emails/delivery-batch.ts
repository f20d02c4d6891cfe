import { type Db, inTransaction, wake } from '../../db/connect.ts';
import type { Email } from '../../db/models/email.ts';
import { statement } from '../../db/statement.ts';
import { workflowIds } from '../outbox/ids.ts';
import { finishAll, type Holder } from './delivery-ledger.ts';
import type { PendingMail } from './delivery-queue.ts';
import { type MailInFlight, type Settlement, settle } from './delivery-settlement.ts';

// How long a text is stands beside it: it need not be read for that.
const pending = statement<PendingMail>(
  'delivery-pending',
  `select e.id, coalesce(octet_length(b.html), 0) as size
   from emails e left join email_contents c on c.email_id = e.id left join email_bodies b on b.id = c.body_id
   where e.batch_id = $1 and e.status = 'PENDING'
   order by row_number() over (partition by e.project_id order by e.due_at, e.id), e.due_at, e.id`,
);

/** Returns the pending mails of a batch, projects in round-robin. */
export function pendingMails(db: Db, batchId: string): Promise<PendingMail[]> {
  return pending(db, [batchId]);
}

const interrupted = statement<{ id: string; source_type: Email['sourceType']; attempts: number; unknown: number }>(
  'delivery-interrupted',
  `select id, source_type, attempts, unknown_outcomes as unknown from emails
   where batch_id = $1 and status = 'SENDING' order by id`,
);

/** Resolves mails in status SENDING, which a previous holder of the lease left in flight. */
export async function resolveInterrupted(db: Db, holder: Holder): Promise<Settlement[]> {
  const rows = await interrupted(db, [holder.batchId]);
  const finishes = rows.map(({ id, source_type, attempts, unknown }) => {
    const mail: MailInFlight = { id, sourceType: source_type, attempts, unknownOutcomes: unknown };
    const settlement = settle(mail, { kind: 'unknown', reason: 'the worker was interrupted while it was sending' });
    return { id, holder, attempts, settlement };
  });
  if (finishes.length === 0) return [];
  const written = await finishAll(db, finishes);
  return finishes.filter((_, index) => written[index]).map(({ settlement }) => settlement);
}

const remove = statement<{ id: string }>(
  'delivery-done',
  `delete from delivery_batches b where b.id = $1 and b.lease_token = $2
   and not exists (select 1 from emails e where e.batch_id = b.id and e.status in ('PENDING', 'SENDING'))
   returning b.id`,
);

/** Removes a finished batch. */
export async function removeBatch(db: Db, { batchId, token }: Holder): Promise<boolean> {
  const removed = (await remove(db, [batchId, token])).length > 0;
  // There may be mail that waited for a batch to end.
  if (removed) wake(db, 'mail');
  return removed;
}

// Held by nobody, wanted by nobody: its workflow was terminated by hand, or lost with its namespace. One whose start is
// still in the outbox only waits for Temporal. Those of a campaign wait for their turn, and are its run's to look after.
const seize = statement<{ id: string }>(
  'delivery-seize',
  `update delivery_batches set lease_token = $1, lease_until = now() + interval '1 minute'
   where id in (
     select b.id from delivery_batches b
     where (b.campaign_id is null or not exists (select 1 from campaigns c where c.id = b.campaign_id))
       and greatest(b.lease_until, b.created_at) < now() - make_interval(secs => $2)
       and not exists (select 1 from outbox o where o.workflow_id = $3 || b.id::text and o.parked_at is null)
     order by b.created_at limit 10
     for update skip locked
   )
   returning id`,
);

/** Dissolves stale batches, so that their mail is batched again. Returns the number of batches. */
export async function dissolveStaleBatches(db: Db, token: string, staleAfterSeconds = 600): Promise<number> {
  return inTransaction(db, async (trx) => {
    const batches = await seize(trx, [token, staleAfterSeconds, workflowIds.delivery('')]);
    for (const { id: batchId } of batches) {
      await resolveInterrupted(trx, { batchId, token });
      await trx('emails').where({ batchId, status: 'PENDING' }).update({ batchId: null });
      await trx('delivery_batches').where({ id: batchId }).del();
    }
    if (batches.length > 0) wake(trx, 'mail');
    return batches.length;
  });
}
