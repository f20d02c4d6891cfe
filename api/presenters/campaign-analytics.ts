import type { CampaignTotals } from '../../services/analytics/campaigns.ts';
import type { CampaignView } from '../../services/campaigns/view.ts';
import { dateTime, fraction, list, namedType, nullable, text, uuid, wholeNumber } from '../http/schemas.ts';
import { campaignStatsShape, presentCampaignStats } from './campaign.ts';

const count = () => wholeNumber({ min: 0 });

export const ratedCampaignSchema = namedType('CampaignSummary', 'A campaign with its counts and rates.', {
  id: uuid().description('Campaign ID.'),
  name: text().description('Campaign name.'),
  subject: text().description('Subject, with variables.'),
  status: text().description('Campaign status.').example('SENT'),
  sentAt: nullable(dateTime()).description('When sending was first completed; null until then.'),
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
  'peopleOpenedCount',
  'bouncedCount',
  'complainedCount',
  'unsubscribedCount',
  'topicUnsubscribedCount',
] as const;

export const campaignTotalsSchema = namedType('CampaignTotals', 'Totals of the campaigns that started in a range.', {
  total: count().description('Number of campaigns that started in the range.'),
  active: count().description('Number of these campaigns that are SENDING.'),
  completed: count().description('Number of these campaigns that are SENT.'),
  sentCount: count().description('Number of emails that were sent.'),
  deliveredCount: count().description('Number of emails that were delivered.'),
  openedCount: count().description('Number of emails that were opened, including automated opens.'),
  clickedCount: count().description('Number of emails with a clicked link, including automated clicks.'),
  humanOpenedCount: count().description('Number of emails that were opened by a person.'),
  humanClickedCount: count().description('Number of emails with a link clicked by a person.'),
  peopleOpenedCount: count().description('Number of emails that were opened or clicked by a person.'),
  bouncedCount: count().description('Number of emails that bounced, including those refused during sending.'),
  complainedCount: count().description('Number of emails that were reported as spam.'),
  unsubscribedCount: count().description('Number of emails whose recipient left all email through them.'),
  topicUnsubscribedCount: count().description('Number of emails whose recipient left their topic through them.'),
  averageOpenRate: fraction().description(
    'Share of all sent emails that were opened, including automated opens, 0 to 1.',
  ),
  averageClickRate: fraction().description(
    'Share of all sent emails with a clicked link, including automated clicks, 0 to 1.',
  ),
  averageHumanOpenRate: fraction().description('Share of all sent emails that were opened by a person, 0 to 1.'),
  averageHumanClickRate: fraction().description('Share of all sent emails with a link clicked by a person, 0 to 1.'),
  averageBounceRate: fraction().description('Share of all sent and refused emails that bounced, 0 to 1.'),
  campaigns: list(ratedCampaignSchema).description('The campaigns, most recently started first.'),
});

/** Averages are over emails, not over campaigns. */
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
