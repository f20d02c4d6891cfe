import { type Db, inTransaction } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { type CampaignCounts, countsOfCampaign } from '../../db/models/campaign-counts.ts';
import { statement } from '../../db/statement.ts';
import { STUCK_REASON } from '../emails/delivery-isolation.ts';
import { sampleRate } from './pace.ts';
import { totalOf } from './view.ts';

export interface Progress {
  /** False if the campaign is paused or has ended. */
  isSending: boolean;
  ratePerMinute: number | null;
}

/** Samples the rate of a sending campaign, and pauses it if its bounce or complaint rate is too high. */
export async function checkProgress(db: Db, id: string, limits: AutoPauseLimits): Promise<Progress> {
  // Leaves out the body, which may be long: this runs every second.
  const campaign = await Campaign.query(db)
    .findById(id)
    .select('status', 'paused', 'ratePerMinute', 'baselineSent', 'baselineBounced', 'baselineComplained');
  if (campaign?.status !== 'SENDING' || campaign.paused) return { isSending: false, ratePerMinute: null };
  const counts = await countsOfCampaign(db, id);
  await sampleRate(db, id, totalOf(counts) - counts.pending);
  const { ratePerMinute } = campaign;
  const reason = autoPauseReason(campaign, counts, limits);
  if (reason) await pauseCampaignItself(db, id, 'AUTO_PAUSE', reason);
  return { isSending: reason === undefined, ratePerMinute };
}

export interface AutoPauseLimits {
  campaignMaxBounceRate: number;
  campaignMaxComplaintRate: number;
}

/** Rates over fewer mails are not significant. */
const MIN_SENT = 200;

type Baseline = Pick<Campaign, 'baselineSent' | 'baselineBounced' | 'baselineComplained'>;

/** Returns why a campaign must pause itself, by its rates since the last resume; undefined if it may continue. */
export function autoPauseReason(
  { baselineSent, baselineBounced, baselineComplained }: Baseline,
  { sent, hardBounced, complained }: CampaignCounts,
  limits: AutoPauseLimits,
): string | undefined {
  const sentSince = sent - baselineSent;
  if (sentSince < MIN_SENT) return undefined;
  const rates = [
    ['bounced', hardBounced - baselineBounced, limits.campaignMaxBounceRate],
    ['drew complaints', complained - baselineComplained, limits.campaignMaxComplaintRate],
  ] as const;
  for (const [verb, count, limit] of rates)
    if (count / sentSince > limit)
      return `${count} of ${sentSince} mails ${verb} (${percent(count / sentSince)}; at most ${percent(limit)} may be)`;
  return undefined;
}

const percent = (rate: number): string => `${Number((rate * 100).toFixed(2))} %`;

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
