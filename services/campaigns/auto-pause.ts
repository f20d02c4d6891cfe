import type { Campaign } from '../../db/models/campaign.ts';
import type { CampaignCounts } from '../../db/models/campaign-counts.ts';

export interface AutoPauseLimits {
  campaignMaxBounceRate: number;
  campaignMaxComplaintRate: number;
}

/** Fewer say nothing. */
const ENOUGH = 200;

type Forgiven = Pick<Campaign, 'baselineSent' | 'baselineBounced' | 'baselineComplained'>;

/** Why a campaign should stop itself, judged by what has come since it was last resumed; undefined: it need not. */
export function autoPauseReason(
  { baselineSent, baselineBounced, baselineComplained }: Forgiven,
  { sent, hardBounced, complained }: CampaignCounts,
  limits: AutoPauseLimits,
): string | undefined {
  const since = sent - baselineSent;
  if (since < ENOUGH) return undefined;
  const rates = [
    ['bounced', hardBounced - baselineBounced, limits.campaignMaxBounceRate],
    ['drew complaints', complained - baselineComplained, limits.campaignMaxComplaintRate],
  ] as const;
  for (const [what, count, limit] of rates)
    if (count / since > limit)
      return `${count} of ${since} mails ${what} (${percent(count / since)}; at most ${percent(limit)} may be)`;
  return undefined;
}

const percent = (rate: number): string => `${Number((rate * 100).toFixed(2))} %`;
