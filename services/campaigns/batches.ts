import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';

/** Campaign mail takes an SMTP connection after transactional mail (0) and workflow mail (1). */
export const CAMPAIGN_PRIORITY = 2;

/** A batch costs five small statements. When a worker dies, the rest of its batch waits until the lease expires. */
export const RECIPIENTS_PER_BATCH = 2_000;

const regroup = statement<{ count: number }>(
  'campaign-regroup',
  `with due as (
     select id from emails
     where priority = ${CAMPAIGN_PRIORITY} and project_id = $1 and status = 'PENDING' and batch_id is null
       and campaign_id = $2 and due_at <= now()
     order by due_at limit $3 for update skip locked
   ),
   batch as (
     insert into delivery_batches (id, priority, campaign_id)
     select $4::uuid, ${CAMPAIGN_PRIORITY}, $2::uuid where exists (select 1 from due)
   ),
   batched as (update emails set batch_id = $4::uuid from due where emails.id = due.id returning 1)
   select count(*)::integer as count from batched`,
);

type CampaignKey = { id: string; projectId: string };

/** Puts deferred and postponed recipients that are due into batches. */
export async function regroupDue(db: Db, { id, projectId }: CampaignKey): Promise<void> {
  for (;;) {
    const [row] = await regroup(db, [projectId, id, RECIPIENTS_PER_BATCH, newId()]);
    if ((row?.count ?? 0) < RECIPIENTS_PER_BATCH) return;
  }
}

export interface BatchesLeft {
  /** Batches without a lease. */
  free: number;
  /** When the first lease expires. */
  leasedUntil: Date | null;
  /** When the first recipient outside a batch is due. */
  dueAt: Date | null;
}

const readBatchesLeft = statement<{ free: number; leased_until: Date | null; due_at: Date | null }>(
  'campaign-batches-left',
  `select count(*) filter (where lease_until <= now())::integer as free,
     min(lease_until) filter (where lease_until > now()) as leased_until,
     (select min(due_at) from emails
      where priority = ${CAMPAIGN_PRIORITY} and project_id = $1 and status = 'PENDING' and batch_id is null
        and campaign_id = $2) as due_at
   from delivery_batches where campaign_id = $2`,
);

export async function batchesLeft(db: Db, { id, projectId }: CampaignKey): Promise<BatchesLeft> {
  const [row] = await readBatchesLeft(db, [projectId, id]);
  return { free: row?.free ?? 0, leasedUntil: row?.leased_until ?? null, dueAt: row?.due_at ?? null };
}
