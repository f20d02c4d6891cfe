import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { type CampaignCounts, noCampaignCounts, readCampaignCounts } from '../../db/models/campaign-counts.ts';
import { countAudience } from './audience.ts';
import { findCampaign } from './find.ts';
import { type Pace, pacesOf, secondsLeft } from './pace.ts';

/** A campaign with how its recipients stand: the six counts always add up to the total. */
export interface CampaignView {
  campaign: Campaign;
  totalRecipients: number;
  counts: CampaignCounts;
  /** While it is SENDING, and where there is something to go by. */
  secondsLeft: number | null;
}

export async function viewCampaigns(db: Db, campaigns: Campaign[]): Promise<CampaignView[]> {
  const ids = campaigns.map(({ id }) => id);
  const counts = await readCampaignCounts(db, ids);
  const sending = campaigns.filter(({ status }) => status === 'SENDING').map(({ id }) => id);
  const paces = await pacesOf(db, sending);
  return campaigns.map((campaign) => view(campaign, counts.get(campaign.id), paces.get(campaign.id)));
}

export async function viewCampaign(db: Db, campaign: Campaign): Promise<CampaignView> {
  return view(campaign, ...(await partsOf(db, campaign)));
}

async function partsOf(db: Db, { id, status }: Campaign): Promise<[CampaignCounts | undefined, Pace | undefined]> {
  const counts = await readCampaignCounts(db, [id]);
  const paces = await pacesOf(db, status === 'SENDING' ? [id] : []);
  return [counts.get(id), paces.get(id)];
}

/** One campaign; that of a draft is counted anew. */
export async function showCampaign(db: Db, projectId: string, id: string): Promise<CampaignView> {
  const campaign = await findCampaign(db, projectId, id);
  if (campaign.status === 'DRAFT' || campaign.status === 'SCHEDULED')
    campaign.audienceCount = (await countAudience(db, campaign)) ?? campaign.audienceCount;
  return viewCampaign(db, campaign);
}

function view(campaign: Campaign, found: CampaignCounts | undefined, pace: Pace | undefined): CampaignView {
  const known = shownCounts(campaign, found ?? noCampaignCounts());
  const isFrozen = campaign.frozenAt !== null || totalOf(known) > 0 || campaign.status === 'CANCELLED';
  // Those whom it will be frozen for in a moment: whoever watches it from the first call on sees sums that close.
  const isStarting = campaign.status === 'SENDING' && !isFrozen;
  const counts = isStarting ? { ...known, pending: campaign.audienceCount } : known;
  return {
    campaign,
    counts,
    totalRecipients: isFrozen ? totalOf(counts) : campaign.audienceCount,
    secondsLeft: secondsLeft(campaign, counts, pace),
  };
}

/** What is left of a cancelled campaign is cancelled, whether its rows say so already or not. */
export function shownCounts({ status }: Pick<Campaign, 'status'>, counts: CampaignCounts): CampaignCounts {
  if (status !== 'CANCELLED') return counts;
  return { ...counts, pending: 0, cancelled: counts.cancelled + counts.pending };
}

export const totalOf = ({ pending, sent, failed, skipped, cancelled, unknown }: CampaignCounts): number =>
  pending + sent + failed + skipped + cancelled + unknown;
