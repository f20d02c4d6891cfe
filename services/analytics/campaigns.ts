import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { type CampaignView, viewCampaigns } from '../campaigns/view.ts';
import { type RangeQuery, readWholeHours } from '../range.ts';

export const metrics = ['opens', 'clicks', 'humanOpens', 'humanClicks', 'sent'] as const;
export type Metric = (typeof metrics)[number];

const countOf: Record<Metric, (view: CampaignView) => number> = {
  opens: ({ counts }) => counts.opened,
  clicks: ({ counts }) => counts.clicked,
  humanOpens: ({ counts }) => counts.humanOpened,
  humanClicks: ({ counts }) => counts.humanClicked,
  sent: ({ counts }) => counts.sent,
};

/** Returns the campaigns that started in the range, the best by the metric first. */
export async function topCampaigns(
  db: Db,
  projectId: string,
  { metric, limit, ...query }: RangeQuery & { metric: Metric; limit: number },
): Promise<CampaignView[]> {
  const views = await startedWithin(db, projectId, query);
  const count = countOf[metric];
  return views.sort((one, other) => count(other) - count(one)).slice(0, limit);
}

export interface CampaignTotals {
  /** The campaigns that started in the range. */
  views: CampaignView[];
  active: number;
  completed: number;
}

export async function campaignTotals(db: Db, projectId: string, query: RangeQuery): Promise<CampaignTotals> {
  const views = await startedWithin(db, projectId, query);
  const having = (status: Campaign['status']) => views.filter(({ campaign }) => campaign.status === status).length;
  return { views, active: having('SENDING'), completed: having('SENT') };
}

/** Returns the newest first, all at once: a project has thousands of campaigns at most. */
async function startedWithin(db: Db, projectId: string, query: RangeQuery): Promise<CampaignView[]> {
  const { from, to } = readWholeHours(query);
  const campaigns = await Campaign.query(db)
    .where({ projectId })
    .whereNull('deletedAt')
    .where('startedAt', '>=', from)
    .where('startedAt', '<', to)
    .orderBy('startedAt', 'desc')
    .orderBy('id', 'desc');
  return viewCampaigns(db, campaigns);
}
