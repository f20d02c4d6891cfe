import type { Campaign } from '../../db/models/campaign.ts';
import type { CampaignCounts } from '../../db/models/campaign-counts.ts';

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
