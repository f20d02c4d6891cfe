import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { STUCK_REASON } from '../emails/delivery-isolation.ts';

const stop = statement<{ id: string }>(
  'campaign-stop',
  `update campaigns set paused = true, paused_by = $2, pause_reason = $3, updated_at = now()
   where id = $1 and status = 'SENDING' and not paused returning id`,
);

/**
 * The campaign pauses by itself: a BRAKE waits for a person, a HOLD for its cause to go. As final as a person's pause:
 * see `haltCampaign`.
 */
export async function pauseCampaignItself(
  db: Db,
  id: string,
  by: 'AUTO_PAUSE' | 'BLOCKED',
  reason: string,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(campaign_lock(?))', [id]);
    return (await stop(trx, [id, by, reason])).length > 0;
  });
}

const release = statement<{ id: string }>(
  'campaign-release',
  `update campaigns set paused = false, paused_by = null, pause_reason = null, updated_at = now()
   where id = $1 and status = 'SENDING' and paused_by = 'BLOCKED' and campaign_block_reason(id) is null returning id`,
);

/** Goes on with a campaign that was held, if nothing stands in its way any more. */
export async function resumeUnblockedCampaign(db: Db, id: string): Promise<boolean> {
  return (await release(db, [id])).length > 0;
}

/** One recipient's data may be to blame; with so many it is the body, which would stop a worker twice for each of them. */
const MOST_STUCK = 3;

const countStuck = statement<{ count: number }>(
  'campaign-count-stuck',
  `select count(*)::integer as count from (
     select 1 from emails where campaign_id = $1 and status = 'FAILED' and reason = $2 limit ${MOST_STUCK}
   ) stuck`,
);

/** Pauses a campaign of which several mails could not be composed. False: it goes on. */
export async function stopIfStuck(db: Db, id: string): Promise<boolean> {
  const [stuck] = await countStuck(db, [id, STUCK_REASON]);
  if ((stuck?.count ?? 0) < MOST_STUCK) return false;
  return pauseCampaignItself(
    db,
    id,
    'AUTO_PAUSE',
    `${MOST_STUCK} of its mails stopped the worker while they were written`,
  );
}
