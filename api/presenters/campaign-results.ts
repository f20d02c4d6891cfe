import type { CampaignLink } from '../../services/campaigns/breakdown.ts';
import { recipientStates } from '../../services/campaigns/recipients.ts';
import type { TimelinePoint } from '../../services/campaigns/timeline.ts';
import { dateTime, namedType, nullable, oneOf, text, uuid, wholeNumber } from '../http/schemas.ts';

const count = () => wholeNumber({ min: 0 });

export const campaignLinkSchema = namedType('CampaignLink', 'A link of a campaign with its clicks.', {
  linkId: uuid().description('ID of the link. The same address has the same ID.'),
  link: text()
    .description(
      'URL of the link, with its variables where the campaign has some. A URL that is not in the campaign has no query; `other` stands for all beyond 1,000.',
    )
    .example('https://example.com/offer?code={{code}}'),
  text: nullable(text({ min: 0 }))
    .description(
      'Text of the link, or the alternative text of its picture; null if the link is not in the campaign as written.',
    )
    .example('See the offer'),
  index: nullable(count()).description(
    'Position of the first such link among the links of the email, from 0; null if it is not in the campaign as written.',
  ),
  clicks: count().description('Number of clicks, including automated clicks.'),
  uniqueClicks: count().description('Number of recipients who clicked, including automated clicks.'),
  humanClicks: count().description('Number of clicks by people.'),
  uniqueHumanClicks: count().description('Number of recipients who clicked, without automated clicks.'),
  firstAt: nullable(dateTime()).description('When a person first clicked the link, or null.'),
  lastAt: nullable(dateTime()).description('When a person last clicked the link, or null.'),
});

export const presentCampaignLink = ({ firstAt, lastAt, ...link }: CampaignLink) => ({
  ...link,
  firstAt: firstAt?.toISOString() ?? null,
  lastAt: lastAt?.toISOString() ?? null,
});

export const timelinePointSchema = namedType('CampaignTimelinePoint', 'Results of a campaign in an hour or a day.', {
  at: dateTime().description('Start of the hour or the day, in UTC.'),
  sent: count().description('Number of emails that were sent.'),
  opened: count().description('Number of emails that a person first opened or clicked.'),
  clicked: count().description('Number of emails in which a person first clicked a link.'),
  bounced: count().description('Number of emails that bounced.'),
  unsubscribed: count().description('Number of emails whose recipient unsubscribed through them.'),
});

export const presentTimelinePoint = ({ at, ...counts }: TimelinePoint) => ({ at: at.toISOString(), ...counts });

export const reasonCountSchema = namedType('CampaignReason', 'A reason that recipients of a campaign have.', {
  status: oneOf(...recipientStates).description('Status of these recipients.'),
  reason: text().description('The reason.').example('not subscribed'),
  count: count().description('Number of recipients.'),
});
