import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { type CampaignCounts, noCampaignCounts, readCampaignCounts } from '../../db/models/campaign-counts.ts';
import { countAudience } from './audience.ts';
import { findCampaign } from './find.ts';
import { type CampaignRate, campaignRatesOf, type SlowedDomain, secondsLeft } from './rates.ts';

/** A campaign with the counts of its recipients by state. The six counts add up to the total. */
export interface CampaignView {
  campaign: Campaign;
  totalRecipients: number;
  counts: CampaignCounts;
  /** Null unless the campaign is SENDING and its rate is known. */
  secondsLeft: number | null;
  /** Recipient domains that get less mail now, slowest first. */
  slowedDomains: SlowedDomain[];
}

export async function viewCampaigns(db: Db, campaigns: Campaign[]): Promise<CampaignView[]> {
  const ids = campaigns.map(({ id }) => id);
  const counts = await readCampaignCounts(db, ids);
  const sending = campaigns.filter(({ status }) => status === 'SENDING').map(({ id }) => id);
  const rates = await campaignRatesOf(db, sending);
  return campaigns.map((campaign) => view(campaign, counts.get(campaign.id), rates.get(campaign.id)));
}

export async function viewCampaign(db: Db, campaign: Campaign): Promise<CampaignView> {
  return view(campaign, ...(await countsAndRateOf(db, campaign)));
}

async function countsAndRateOf(
  db: Db,
  { id, status }: Campaign,
): Promise<[CampaignCounts | undefined, CampaignRate | undefined]> {
  const counts = await readCampaignCounts(db, [id]);
  const rates = await campaignRatesOf(db, status === 'SENDING' ? [id] : []);
  return [counts.get(id), rates.get(id)];
}

/** Returns one campaign, with the size of its audience as it was counted last. */
export async function findCampaignView(db: Db, projectId: string, id: string): Promise<CampaignView> {
  return viewCampaign(db, await findCampaign(db, projectId, id));
}

/** Returns one campaign. Counts the audience again before it is sent. */
export async function showCampaign(db: Db, projectId: string, id: string): Promise<CampaignView> {
  const campaign = await findCampaign(db, projectId, id);
  if (campaign.status === 'DRAFT' || campaign.status === 'SCHEDULED')
    campaign.audienceCount = (await countAudience(db, campaign)) ?? campaign.audienceCount;
  return viewCampaign(db, campaign);
}

function view(campaign: Campaign, stored: CampaignCounts | undefined, rate: CampaignRate | undefined): CampaignView {
  const shown = shownCounts(campaign, stored ?? noCampaignCounts());
  const isFrozen = campaign.frozenAt !== null || totalOf(shown) > 0 || campaign.status === 'CANCELLED';
  // Shows the expected recipients as pending until the freeze, so that the counts add up from the start.
  const isStarting = campaign.status === 'SENDING' && !isFrozen;
  const counts = isStarting ? { ...shown, pending: campaign.audienceCount } : shown;
  return {
    campaign,
    counts,
    totalRecipients: isFrozen ? totalOf(counts) : campaign.audienceCount,
    secondsLeft: secondsLeft(campaign, counts, rate),
    slowedDomains: campaign.status === 'SENDING' ? (rate?.slowedDomains ?? []) : [],
  };
}

/** Counts the pending recipients of a cancelled campaign as cancelled, before their rows are updated. */
export function shownCounts({ status }: Pick<Campaign, 'status'>, counts: CampaignCounts): CampaignCounts {
  if (status !== 'CANCELLED') return counts;
  return { ...counts, pending: 0, cancelled: counts.cancelled + counts.pending };
}

export const totalOf = ({ pending, sent, failed, skipped, cancelled, unknown }: CampaignCounts): number =>
  pending + sent + failed + skipped + cancelled + unknown;
