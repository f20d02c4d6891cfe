import type { Db } from '../../db/connect.ts';
import { Campaign, type CampaignStatus } from '../../db/models/campaign.ts';
import { parseCondition } from '../conditions/parse.ts';
import type { Uses } from '../conditions/types.ts';

export interface NamedCampaign {
  id: string;
  name: string;
}

/** What these campaigns use must not be deleted. */
const unfinished: CampaignStatus[] = ['DRAFT', 'SCHEDULED', 'SENDING'];

/** Returns the campaigns with an audience condition that matches. */
export async function campaignsUsing(
  db: Db,
  projectId: string,
  matches: (uses: Uses) => boolean,
): Promise<NamedCampaign[]> {
  return filterByCondition(await withCondition(db, projectId), matches).map(({ id, name }) => ({ id, name }));
}

/** Returns the campaigns that were created from a template. */
export async function campaignsWithTemplate(
  db: Db,
  projectId: string,
  templateId: string,
): Promise<(NamedCampaign & { status: CampaignStatus })[]> {
  const campaigns = await Campaign.query(db)
    .where({ projectId, templateId })
    .whereNull('deletedAt')
    .orderBy('name')
    .orderBy('id');
  return campaigns.map(({ id, name, status }) => ({ id, name, status }));
}

/** Returns an unfinished campaign whose audience is the segment, or a condition that refers to it. */
export async function campaignNeedingSegment(
  db: Db,
  projectId: string,
  segmentId: string,
): Promise<NamedCampaign | undefined> {
  const [direct] = await Campaign.query(db)
    .where({ projectId, segmentId })
    .whereIn('status', unfinished)
    .whereNull('deletedAt')
    .limit(1);
  // The database filters by the id in the text, because parsing many large conditions is slow.
  const others = await withCondition(db, projectId)
    .whereIn('status', unfinished)
    .whereRaw('audience_condition::text ilike ?', [`%segment.${segmentId}%`]);
  return direct ?? filterByCondition(others, ({ segments }) => segments.has(segmentId))[0];
}

const withCondition = (db: Db, projectId: string) =>
  Campaign.query(db)
    .where({ projectId })
    .whereNotNull('audienceCondition')
    .whereNull('deletedAt')
    .select('id', 'name', 'status', 'audienceCondition')
    .orderBy('name')
    .orderBy('id');

const filterByCondition = (campaigns: Campaign[], matches: (uses: Uses) => boolean): Campaign[] =>
  campaigns.filter(({ audienceCondition }) => {
    const uses = parseCondition(audienceCondition).parsed?.uses;
    return uses !== undefined && matches(uses);
  });
