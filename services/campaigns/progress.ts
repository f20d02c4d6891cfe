import { type Db, inTransaction } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { countsOfCampaign } from '../../db/models/campaign-counts.ts';
import { signalCampaign } from '../outbox/campaign-run.ts';
import { type AutoPauseLimits, autoPauseReason } from './auto-pause.ts';
import { sampleRate } from './rates.ts';
import { pauseCampaignItself } from './pause-itself.ts';
import { totalOf } from './view.ts';

/** Of a campaign that is SENDING and not paused; `finished` when no recipient is pending. */
export type CampaignProgress = 'sending' | 'finished' | 'stopped';

/** Samples the rate of a sending campaign, and pauses it if its bounce or complaint rate is too high. */
export async function checkProgress(db: Db, id: string, limits: AutoPauseLimits): Promise<CampaignProgress> {
  // Leaves out the body, which may be long: this runs every second.
  const campaign = await Campaign.query(db)
    .findById(id)
    .select('status', 'paused', 'frozenAt', 'baselineSent', 'baselineBounced', 'baselineComplained');
  if (campaign?.status !== 'SENDING' || campaign.paused) return 'stopped';
  const counts = await countsOfCampaign(db, id);
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
