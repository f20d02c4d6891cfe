import type { CampaignTotals } from '../../services/analytics/campaigns.ts';
import type { CampaignView } from '../../services/campaigns/view.ts';
import { dateTime, fraction, list, nullable, object, text, uuid, wholeNumber } from '../http/schemas.ts';
import { campaignStatsShape, presentCampaignStats } from './campaign.ts';

const count = () => wholeNumber({ min: 0 });

/** A campaign with the same figures as /campaigns/:id/stats. */
export const ratedCampaignSchema = object({
  id: uuid(),
  name: text(),
  subject: text(),
  status: text(),
  sentAt: nullable(dateTime()),
  ...campaignStatsShape,
});

export const presentRatedCampaign = (view: CampaignView) => ({
  id: view.campaign.id,
  name: view.campaign.name,
  subject: view.campaign.subject,
  status: view.campaign.status,
  sentAt: view.campaign.sentAt?.toISOString() ?? null,
  ...presentCampaignStats(view),
});

const sums = [
  'sentCount',
  'deliveredCount',
  'openedCount',
  'clickedCount',
  'humanOpenedCount',
  'humanClickedCount',
  'bouncedCount',
  'complainedCount',
  'unsubscribedCount',
] as const;

export const campaignTotalsSchema = object({
  total: count(),
  active: count(),
  completed: count(),
  sentCount: count(),
  deliveredCount: count(),
  openedCount: count(),
  clickedCount: count(),
  humanOpenedCount: count(),
  humanClickedCount: count(),
  bouncedCount: count(),
  complainedCount: count(),
  unsubscribedCount: count(),
  averageOpenRate: fraction(),
  averageClickRate: fraction(),
  averageHumanOpenRate: fraction(),
  averageHumanClickRate: fraction(),
  averageBounceRate: fraction(),
  campaigns: list(ratedCampaignSchema),
});

/** Averages are over mails, not over campaigns. */
export function presentCampaignTotals({ views, active, completed }: CampaignTotals) {
  const campaigns = views.map(presentRatedCampaign);
  const total = (key: (typeof sums)[number]) => campaigns.reduce((sum, campaign) => sum + campaign[key], 0);
  const sent = total('sentCount');
  const rate = (key: (typeof sums)[number], whole = sent) => (whole > 0 ? Math.min(total(key) / whole, 1) : 0);
  const refused = views.reduce((sum, { counts }) => sum + counts.refused, 0);
  return {
    total: views.length,
    active,
    completed,
    ...Object.fromEntries(sums.map((key) => [key, total(key)])),
    averageOpenRate: rate('openedCount'),
    averageClickRate: rate('clickedCount'),
    averageHumanOpenRate: rate('humanOpenedCount'),
    averageHumanClickRate: rate('humanClickedCount'),
    averageBounceRate: rate('bouncedCount', sent + refused),
    campaigns,
  };
}
