import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';

/** Behind transactional mail and that of workflows, on every connection. */
export const CAMPAIGN_PRIORITY = 2;

/** A batch costs five small statements, and what was begun of it waits for a lease to end when a worker dies. */
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
   moved as (update emails set batch_id = $4::uuid from due where emails.id = due.id returning 1)
   select count(*)::integer as count from moved`,
);

type Owner = { id: string; projectId: string };

/** Puts recipients who were put off, and are due again, into batches. */
export async function regroupDue(db: Db, { id, projectId }: Owner): Promise<void> {
  for (;;) {
    const [row] = await regroup(db, [projectId, id, RECIPIENTS_PER_BATCH, newId()]);
    if ((row?.count ?? 0) < RECIPIENTS_PER_BATCH) return;
  }
}

export interface BatchesLeft {
  /** Nobody has these. */
  free: number;
  /** When the first of the others may be free. */
  leasedUntil: Date | null;
  /** When the first of those who were put off is due. */
  dueAt: Date | null;
}

const left = statement<{ free: number; leased_until: Date | null; due_at: Date | null }>(
  'campaign-batches-left',
  `select count(*) filter (where lease_until <= now())::integer as free,
     min(lease_until) filter (where lease_until > now()) as leased_until,
     (select min(due_at) from emails
      where priority = ${CAMPAIGN_PRIORITY} and project_id = $1 and status = 'PENDING' and batch_id is null
        and campaign_id = $2) as due_at
   from delivery_batches where campaign_id = $2`,
);

export async function batchesLeft(db: Db, { id, projectId }: Owner): Promise<BatchesLeft> {
  const [row] = await left(db, [projectId, id]);
  return { free: row?.free ?? 0, leasedUntil: row?.leased_until ?? null, dueAt: row?.due_at ?? null };
}
