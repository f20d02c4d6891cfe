import type { Db } from '../../db/connect.ts';
import { Campaign, type CampaignStatus } from '../../db/models/campaign.ts';
import { statement } from '../../db/statement.ts';
import { parseCondition } from '../conditions/parse.ts';
import type { Uses } from '../conditions/types.ts';

export interface NamedCampaign {
  id: string;
  name: string;
}

type ConditionCampaign = Pick<Campaign, 'id' | 'name' | 'audienceCondition'>;

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
    .select('id', 'name', 'status')
    .orderBy('name')
    .orderBy('id');
  return campaigns.map(({ id, name, status }) => ({ id, name, status }));
}

// Filters by the id in the text, because parsing many large conditions is slow.
const naming = statement<ConditionCampaign>(
  'campaigns-naming-segment',
  `select id, name, audience_condition from campaigns
   where project_id = $1 and status = any ($2::text[]) and deleted_at is null and audience_condition::text ilike $3
   order by name, id`,
);

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
    .select('id', 'name')
    .limit(1);
  const named = await naming(db, [projectId, unfinished, `%segment.${segmentId}%`]);
  return direct ?? filterByCondition(named, ({ segments }) => segments.has(segmentId))[0];
}

const withCondition = (db: Db, projectId: string) =>
  Campaign.query(db)
    .where({ projectId })
    .whereNotNull('audienceCondition')
    .whereNull('deletedAt')
    .select('id', 'name', 'audienceCondition')
    .orderBy('name')
    .orderBy('id');

const filterByCondition = (campaigns: ConditionCampaign[], matches: (uses: Uses) => boolean): ConditionCampaign[] =>
  campaigns.filter(({ audienceCondition }) => {
    const uses = parseCondition(audienceCondition).parsed?.uses;
    return uses !== undefined && matches(uses);
  });
