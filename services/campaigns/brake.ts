import type { Campaign } from '../../db/models/campaign.ts';
import type { CampaignCounts } from '../../db/models/campaign-counts.ts';

export interface BrakeLimits {
  campaignMaxBounceRate: number;
  campaignMaxComplaintRate: number;
}

/** Fewer say nothing. */
const ENOUGH = 200;

type Forgiven = Pick<Campaign, 'forgivenSent' | 'forgivenBounced' | 'forgivenComplained'>;

/** Why a campaign should stop itself, judged by what has come since it was last resumed; undefined: it need not. */
export function reasonToBrake(
  { forgivenSent, forgivenBounced, forgivenComplained }: Forgiven,
  { sent, hardBounced, complained }: CampaignCounts,
  limits: BrakeLimits,
): string | undefined {
  const since = sent - forgivenSent;
  if (since < ENOUGH) return undefined;
  const rates = [
    ['bounced', hardBounced - forgivenBounced, limits.campaignMaxBounceRate],
    ['drew complaints', complained - forgivenComplained, limits.campaignMaxComplaintRate],
  ] as const;
  for (const [what, count, limit] of rates)
    if (count / since > limit)
      return `${count} of ${since} mails ${what} (${percent(count / since)}; at most ${percent(limit)} may be)`;
  return undefined;
}

const percent = (rate: number): string => `${Number((rate * 100).toFixed(2))} %`;
