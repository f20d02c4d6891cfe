import type { QueryBuilder } from 'objection';
import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { type CampaignCounts, readCampaignCounts } from '../../db/models/campaign-counts.ts';
import { type CampaignView, viewCampaigns } from '../campaigns/view.ts';
import { type RangeQuery, readWholeHours } from '../range.ts';

export const metrics = ['opens', 'clicks', 'humanOpens', 'humanClicks', 'peopleOpens', 'sent'] as const;
export type Metric = (typeof metrics)[number];

const countNames = {
  opens: 'opened',
  clicks: 'clicked',
  humanOpens: 'humanOpened',
  humanClicks: 'humanClicked',
  peopleOpens: 'peopleOpened',
  sent: 'sent',
} as const satisfies Record<Metric, keyof CampaignCounts>;

/** Returns the campaigns that started in the range, the best by the metric first. */
export async function topCampaigns(
  db: Db,
  projectId: string,
  { metric, limit, ...query }: RangeQuery & { metric: Metric; limit: number },
): Promise<CampaignView[]> {
  // Only the best are read whole: bodies are large.
  const started = await startedWithin(db, projectId, query).select('id');
  const counts = await readCampaignCounts(
    db,
    projectId,
    started.map(({ id }) => id),
  );
  const countOf = ({ id }: Pick<Campaign, 'id'>): number => counts.get(id)?.[countNames[metric]] ?? 0;
  const best = started.sort((one, other) => countOf(other) - countOf(one)).slice(0, limit);
  const campaigns = await Campaign.query(db)
    .where({ projectId })
    .whereIn(
      'id',
      best.map(({ id }) => id),
    );
  const rank = new Map(best.map(({ id }, index) => [id, index]));
  const rankOf = ({ id }: Campaign): number => rank.get(id) ?? 0;
  return viewCampaigns(
    db,
    campaigns.sort((one, other) => rankOf(one) - rankOf(other)),
  );
}

export interface CampaignTotals {
  /** The campaigns that started in the range. */
  views: CampaignView[];
  active: number;
  completed: number;
}

export async function campaignTotals(db: Db, projectId: string, query: RangeQuery): Promise<CampaignTotals> {
  const views = await viewCampaigns(db, await startedWithin(db, projectId, query));
  const having = (status: Campaign['status']) => views.filter(({ campaign }) => campaign.status === status).length;
  return { views, active: having('SENDING'), completed: having('SENT') };
}

/** The newest first, all at once: a project has thousands of campaigns at most. */
function startedWithin(db: Db, projectId: string, query: RangeQuery): QueryBuilder<Campaign, Campaign[]> {
  const { from, to } = readWholeHours(query);
  return Campaign.query(db)
    .where({ projectId })
    .whereNull('deletedAt')
    .where('startedAt', '>=', from)
    .where('startedAt', '<', to)
    .orderBy('startedAt', 'desc')
    .orderBy('id', 'desc');
}
