import type { Db } from '../../db/connect.ts';
import {
  type DomainCounts,
  type LinkCount,
  readCampaignDomains,
  readCampaignLinks,
} from '../../db/models/mail-counts.ts';
import { findCampaign } from './find.ts';

/** Returns the clicked links of a campaign, the most clicked first. */
export async function campaignLinks(db: Db, projectId: string, id: string, limit: number): Promise<LinkCount[]> {
  const campaign = await findCampaign(db, projectId, id);
  return readCampaignLinks(db, campaign.id, limit);
}

/** Returns the results of a campaign by recipient domain, the largest first. */
export async function campaignDomains(db: Db, projectId: string, id: string, limit: number): Promise<DomainCounts[]> {
  const campaign = await findCampaign(db, projectId, id);
  return readCampaignDomains(db, campaign.id, limit);
}
