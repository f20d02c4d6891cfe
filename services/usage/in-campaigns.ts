import type { Db } from '../../db/connect.ts';
import { Campaign, type CampaignStatus } from '../../db/models/campaign.ts';
import { parseCondition } from '../conditions/parse.ts';
import type { Uses } from '../conditions/types.ts';

export interface NamedCampaign {
  id: string;
  name: string;
}

/** What these still need must not go. */
const unfinished: CampaignStatus[] = ['DRAFT', 'SCHEDULED', 'SENDING'];

/** Campaigns whose audience is chosen by a condition that looks at something. */
export async function campaignsUsing(
  db: Db,
  projectId: string,
  looks: (uses: Uses) => boolean,
): Promise<NamedCampaign[]> {
  return chosen(await conditional(db, projectId), looks).map(({ id, name }) => ({ id, name }));
}

/** Those that a template's text once went into. */
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

/** An unfinished campaign that goes to a segment, or to those whom a condition on it chooses. */
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
  // The database leaves out those that do not even name it: conditions may be large, and there may be many.
  const others = await conditional(db, projectId)
    .whereIn('status', unfinished)
    .whereRaw('audience_condition::text ilike ?', [`%segment.${segmentId}%`]);
  return direct ?? chosen(others, ({ segments }) => segments.has(segmentId))[0];
}

const conditional = (db: Db, projectId: string) =>
  Campaign.query(db)
    .where({ projectId })
    .whereNotNull('audienceCondition')
    .whereNull('deletedAt')
    .select('id', 'name', 'status', 'audienceCondition')
    .orderBy('name')
    .orderBy('id');

const chosen = (campaigns: Campaign[], looks: (uses: Uses) => boolean): Campaign[] =>
  campaigns.filter(({ audienceCondition }) => {
    const uses = parseCondition(audienceCondition).parsed?.uses;
    return uses !== undefined && looks(uses);
  });
