import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

const pause = statement<{ id: string }>(
  'campaign-pause-itself',
  `update campaigns set paused = true, paused_by = $2, pause_reason = $3, updated_at = now()
   where id = $1 and status = 'SENDING' and not paused returning id`,
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
    return (await pause(trx, [id, by, reason])).length > 0;
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
