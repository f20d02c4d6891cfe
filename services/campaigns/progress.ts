import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { countsOfCampaign } from '../../db/models/campaign-counts.ts';
import { type AutoPauseLimits, autoPauseReason } from './auto-pause.ts';
import { sampleRate } from './pace.ts';
import { pauseCampaignItself } from './pause-itself.ts';
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
