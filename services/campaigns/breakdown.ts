import type { Db } from '../../db/connect.ts';
import {
  type DomainCounts,
  type LinkCount,
  readCampaignDomains,
  readCampaignLinks,
} from '../../db/models/mail-counts.ts';
import { statement } from '../../db/statement.ts';
import { findCampaign } from './find.ts';
import { type LinkPlace, linkPlaces } from './link-places.ts';
import type { RecipientState } from './recipients.ts';

export type CampaignLink = LinkCount & { [K in keyof LinkPlace]: LinkPlace[K] | null };

/** Returns the clicked links of a campaign, the most clicked first. */
export async function campaignLinks(db: Db, projectId: string, id: string, limit: number): Promise<CampaignLink[]> {
  const campaign = await findCampaign(db, projectId, id);
  const links = await readCampaignLinks(db, campaign.id, limit);
  const places = links.length > 0 ? linkPlaces(campaign.body) : new Map<string, LinkPlace>();
  return links.map((counts) => ({ ...counts, ...(places.get(counts.link) ?? { index: null, text: null }) }));
}

/** Returns the results of a campaign by recipient domain, the largest first. */
export async function campaignDomains(db: Db, projectId: string, id: string, limit: number): Promise<DomainCounts[]> {
  const campaign = await findCampaign(db, projectId, id);
  return readCampaignDomains(db, campaign.id, limit);
}

export interface ReasonCount {
  status: RecipientState;
  reason: string;
  count: number;
}

const readReasons = statement<ReasonCount>(
  'campaign-reasons',
  `select recipient_state(status) as status, reason, count(*)::integer as count from emails
   where project_id = $1 and campaign_id = $2 and status in ('FAILED', 'SKIPPED', 'UNKNOWN', 'BOUNCED')
     and reason is not null
   group by 1, 2 order by count(*) desc, 1, 2 limit 100`,
);

/** Returns why recipients got no email, the most frequent reasons first. */
export async function campaignReasons(db: Db, projectId: string, id: string): Promise<ReasonCount[]> {
  await findCampaign(db, projectId, id);
  return readReasons(db, [projectId, id]);
}
