import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { STUCK_REASON } from '../emails/delivery-isolation.ts';

const pause = statement<{ project_id: string }>(
  'campaign-pause-itself',
  `update campaigns set paused = true, paused_by = $2, pause_reason = $3, updated_at = now()
   where id = $1 and status = 'SENDING' and not paused returning project_id`,
);

/**
 * Pauses the campaign without a person: AUTO_PAUSE lasts until a person resumes it, BLOCKED until its cause ends. No mail
 * is begun after the commit: see `lockCampaignAndSending`. Returns false if it was not sending.
 */
export async function pauseCampaignItself(
  db: Db,
  id: string,
  by: 'AUTO_PAUSE' | 'BLOCKED',
  reason: string,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(campaign_lock(?))', [id]);
    const [paused] = await pause(trx, [id, by, reason]);
    if (!paused) return false;
    await recordAudit(
      trx,
      { projectId: paused.project_id },
      { action: 'campaign.paused', target: { type: 'campaign', id }, changes: changesOf({}, { reason }) },
    );
    return true;
  });
}

const resume = statement<{ id: string }>(
  'campaign-resume-unblocked',
  `update campaigns set paused = false, paused_by = null, pause_reason = null, updated_at = now()
   where id = $1 and status = 'SENDING' and paused_by = 'BLOCKED' and campaign_block_reason(id) is null returning id`,
);

/** Resumes a blocked campaign if the cause has ended. Returns whether it did. */
export async function resumeUnblockedCampaign(db: Db, id: string): Promise<boolean> {
  return (await resume(db, [id])).length > 0;
}

/** One stuck mail may be due to its recipient's data. This many are due to the body, which ends a worker twice each. */
const STUCK_LIMIT = 3;

const countStuck = statement<{ count: number }>(
  'campaign-count-stuck',
  `select count(*)::integer as count from (
     select 1 from emails where campaign_id = $1 and status = 'FAILED' and reason = $2 limit ${STUCK_LIMIT}
   ) stuck`,
);

/** Pauses a campaign that has several stuck mails. Returns whether it did. */
export async function pauseIfStuck(db: Db, id: string): Promise<boolean> {
  const [stuck] = await countStuck(db, [id, STUCK_REASON]);
  if ((stuck?.count ?? 0) < STUCK_LIMIT) return false;
  return pauseCampaignItself(
    db,
    id,
    'AUTO_PAUSE',
    `${STUCK_LIMIT} of its mails stopped the worker while they were written`,
  );
}
