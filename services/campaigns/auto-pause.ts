import { type Db, inTransaction } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { type CampaignCounts, countsOfCampaign } from '../../db/models/campaign-counts.ts';
import { statement } from '../../db/statement.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { signalCampaign } from '../outbox/campaign-run.ts';
import { lockCampaignSending } from './find.ts';
import { sampleRate } from './rates.ts';
import { totalOf } from './view.ts';

/** Of a campaign that is SENDING and not paused; `finished` when no recipient is pending. */
export type CampaignProgress = 'sending' | 'finished' | 'stopped';

/** Samples the rate of a sending campaign, and pauses it if its bounce or complaint rate is too high. */
export async function checkProgress(db: Db, id: string, limits: AutoPauseLimits): Promise<CampaignProgress> {
  // Leaves out the body, which may be long: this runs every second.
  const campaign = await Campaign.query(db)
    .findById(id)
    .select(
      'id',
      'projectId',
      'status',
      'paused',
      'frozenAt',
      'baselineSent',
      'baselineRefused',
      'baselineBounced',
      'baselineComplained',
    );
  if (campaign?.status !== 'SENDING' || campaign.paused) return 'stopped';
  const counts = await countsOfCampaign(db, campaign);
  await sampleRate(db, id, totalOf(counts) - counts.pending);
  const reason = autoPauseReason(campaign, counts, limits);
  if (reason) await pauseCampaignItself(db, id, 'AUTO_PAUSE', reason);
  if (reason) return 'stopped';
  return campaign.frozenAt && counts.pending === 0 ? 'finished' : 'sending';
}

/** For senders: as `checkProgress`, and signals the Temporal workflow of a finished campaign to close it. */
export async function checkCampaign(db: Db, id: string, limits: AutoPauseLimits): Promise<CampaignProgress> {
  const progress = await checkProgress(db, id, limits);
  if (progress !== 'finished') return progress;
  await inTransaction(db, async (trx) => {
    const campaign = await Campaign.query(trx).findById(id).select('id', 'projectId', 'generation');
    if (campaign) await signalCampaign(trx, campaign);
  });
  return progress;
}

export interface AutoPauseLimits {
  campaignMaxBounceRate: number;
  campaignMaxComplaintRate: number;
}

/** Rates over fewer mails are not significant. */
const MIN_SENT = 200;

type Baseline = Pick<Campaign, 'baselineSent' | 'baselineRefused' | 'baselineBounced' | 'baselineComplained'>;

/** Returns why a campaign must pause itself, by its rates since the last resume; undefined if it may continue. */
export function autoPauseReason(
  { baselineSent, baselineRefused, baselineBounced, baselineComplained }: Baseline,
  { sent, refused, hardBounced, complained }: CampaignCounts,
  limits: AutoPauseLimits,
): string | undefined {
  const sentSince = sent - baselineSent;
  // Refused recipients bounce without having been sent to.
  const offeredSince = sentSince + refused - baselineRefused;
  const rates = [
    ['bounced', hardBounced - baselineBounced, offeredSince, limits.campaignMaxBounceRate],
    ['drew complaints', complained - baselineComplained, sentSince, limits.campaignMaxComplaintRate],
  ] as const;
  for (const [verb, count, mails, limit] of rates)
    if (mails >= MIN_SENT && count / mails > limit)
      return `${count} of ${mails} emails ${verb} (${percent(count / mails)}; the limit is ${percent(limit)})`;
  return undefined;
}

const percent = (rate: number): string => `${Number((rate * 100).toFixed(2))} %`;

const pause = statement<{ projectId: string }>(
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
    await lockCampaignSending(trx, id);
    const [paused] = await pause(trx, [id, by, reason]);
    // A blocked campaign continues automatically, so the page does not say who stopped it.
    if (paused && by === 'AUTO_PAUSE')
      await recordAudit(
        trx,
        { projectId: paused.projectId },
        { action: 'campaign.paused', target: { type: 'campaign', id }, changes: changesOf({}, { reason }) },
      );
    return paused !== undefined;
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
