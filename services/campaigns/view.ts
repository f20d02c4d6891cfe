import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { type CampaignCounts, noCampaignCounts, readCampaignCounts } from '../../db/models/campaign-counts.ts';
import { statement } from '../../db/statement.ts';
import { countAudience } from './audience.ts';
import { type CampaignChain, readChain } from './chain.ts';
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
  /** Null unless the campaign is paused. */
  pausedBy: Pauser | null;
  /** Of a single campaign only, because counting takes time. */
  chain?: CampaignChain;
}

/** A campaign that pauses itself is paused by SYSTEM. The name is an address or the name of a key. */
export interface Pauser {
  type: 'USER' | 'KEY' | 'SYSTEM';
  name: string | null;
}

const readPausers = statement<Pauser & { id: string }>(
  'campaign-pausers',
  `select c.id, coalesce(c.paused_actor_type, 'USER') as type,
     case c.paused_actor_type when 'USER' then u.email when 'KEY' then coalesce(k.name, 'Secret key') end as name
   from campaigns c
   left join users u on u.id = c.paused_actor_id and c.paused_actor_type = 'USER'
   left join scoped_keys k on k.id = c.paused_actor_id and k.project_id = c.project_id
   where c.project_id = $1 and c.id = any ($2::uuid[])`,
);

/** The campaigns are of one project. */
export async function viewCampaigns(db: Db, campaigns: Campaign[]): Promise<CampaignView[]> {
  const [first] = campaigns;
  if (!first) return [];
  const ids = campaigns.map(({ id }) => id);
  const counts = await readCampaignCounts(db, first.projectId, ids);
  const sending = campaigns.filter(({ status }) => status === 'SENDING').map(({ id }) => id);
  const rates = await campaignRatesOf(db, sending);
  const pausers = await pausersOf(db, first.projectId, campaigns);
  return campaigns.map((campaign) => ({
    ...view(campaign, counts.get(campaign.id), rates.get(campaign.id)),
    pausedBy: pausers.get(campaign.id) ?? null,
  }));
}

async function pausersOf(db: Db, projectId: string, campaigns: Campaign[]): Promise<Map<string, Pauser>> {
  const found = new Map<string, Pauser>();
  for (const { id, paused } of campaigns) if (paused) found.set(id, { type: 'SYSTEM', name: null });
  const byActor = campaigns.filter(({ paused, pausedBy }) => paused && pausedBy === 'USER').map(({ id }) => id);
  if (byActor.length === 0) return found;
  for (const { id, type, name } of await readPausers(db, [projectId, byActor])) found.set(id, { type, name });
  return found;
}

export async function viewCampaign(db: Db, campaign: Campaign): Promise<CampaignView> {
  const [viewed] = await viewCampaigns(db, [campaign]);
  if (!viewed) throw new Error('a campaign has no view');
  return viewed;
}

/** Returns one campaign, with the size of its audience as it was counted last. */
export async function findCampaignView(db: Db, projectId: string, id: string): Promise<CampaignView> {
  return viewCampaign(db, await findCampaign(db, projectId, id));
}

/** Returns one campaign with its follow-ups. */
export async function showCampaignWithChain(db: Db, projectId: string, id: string): Promise<CampaignView> {
  const view = await showCampaign(db, projectId, id);
  return { ...view, chain: await readChain(db, view.campaign) };
}

/** Returns one campaign. Counts the audience again before it is sent. */
export async function showCampaign(db: Db, projectId: string, id: string): Promise<CampaignView> {
  const campaign = await findCampaign(db, projectId, id);
  if (campaign.status === 'DRAFT' || campaign.status === 'SCHEDULED')
    campaign.audienceCount = (await countAudience(db, campaign)) ?? campaign.audienceCount;
  return viewCampaign(db, campaign);
}

function view(
  campaign: Campaign,
  stored: CampaignCounts | undefined,
  rate: CampaignRate | undefined,
): Omit<CampaignView, 'pausedBy'> {
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
