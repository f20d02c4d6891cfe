import { presentCampaignCounts } from '../../services/campaigns/present.ts';
import { type Recipient, recipientStates } from '../../services/campaigns/recipients.ts';
import { audienceTypes, campaignStatuses, lateRules, templateTypes } from '../../services/campaigns/save.ts';
import type { CampaignView } from '../../services/campaigns/view.ts';
import {
  dateTime,
  email,
  flag,
  fraction,
  list,
  namedType,
  nullable,
  object,
  oneOf,
  optional,
  rate,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import { contentShape } from './mail-document.ts';
import { conditionTree } from './segment.ts';

export { presentCampaign, presentListedCampaign } from '../../services/campaigns/present.ts';

const count = () => wholeNumber({ min: 0 });

/** Each recipient is in one of the six counts after the total; the others count results, once per email. */
const countShape = {
  totalRecipients: count().description('Number of recipients; before sending starts, the size of the audience.'),
  pendingCount: count().description('Number of recipients whose email is still to be sent.'),
  sentCount: count().description('Number of recipients whose email was sent.'),
  failedCount: count().description('Number of recipients whose email could not be sent.'),
  skippedCount: count().description(
    'Number of recipients who were skipped: suppressed, unsubscribed or deleted since, or too late.',
  ),
  cancelledCount: count().description('Number of recipients who get no email because the campaign was cancelled.'),
  unknownCount: count().description('Number of recipients for whom it is not known whether the email was sent.'),
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
};

const slowedDomain = object({
  domain: text().description('Recipient domain.'),
  perSecond: rate().description('Current limit in emails per second.'),
});

const followUp = object({
  id: uuid().description('Campaign ID.'),
  name: text().description('Campaign name.'),
  status: oneOf(...campaignStatuses).description('Campaign status.'),
});

export const campaignSchema = namedType('Campaign', 'An email to an audience.', {
  id: uuid().description('Campaign ID.'),
  name: text().description('Campaign name.'),
  description: nullable(text({ min: 0 })).description('Internal description; null if there is none.'),
  subject: text().description('Subject, with variables.'),
  body: text().description('HTML body, with variables.'),
  ...contentShape,
  revision: count().description(
    'Rises with every change to the content, the audience or the rate. Send it as `expectedRevision`.',
  ),
  from: email().description('Email address of the sender.'),
  fromName: nullable(text({ min: 0 })).description('Name of the sender; null if there is none.'),
  replyTo: nullable(email()).description('Reply-To address; null if there is none.'),
  type: oneOf(...templateTypes).description(
    'TRANSACTIONAL is sent to all contacts of the audience, MARKETING and HEADLESS only to subscribed ones. ' +
      'MARKETING adds an unsubscribe footer.',
  ),
  status: oneOf(...campaignStatuses).description('Campaign status.'),
  paused: flag().description('Whether sending is paused.'),
  pauseReason: nullable(text()).description('Why sending is paused; null unless it is.'),
  pausedBy: nullable(
    object({
      type: oneOf('USER', 'KEY', 'SYSTEM').description('SYSTEM: the campaign has paused itself.'),
      name: nullable(text()).description('Email address of the user or name of the key; null if it is not known.'),
    }),
  ).description('Who paused the campaign; null unless it is paused.'),
  audienceType: oneOf(...audienceTypes).description(
    'Audience: ALL contacts, the members of a SEGMENT, or contacts FILTERED by a condition.',
  ),
  segmentId: nullable(uuid()).description('ID of the segment; null unless `audienceType` is SEGMENT.'),
  audienceCondition: conditionTree().description(
    'Condition that recipients match; null unless `audienceType` is FILTERED.',
  ),
  templateId: nullable(uuid()).description('ID of the template that the campaign is based on; null if there is none.'),
  topicId: nullable(uuid()).description('Topic of the email; null if it has none.'),
  followUpOf: nullable(uuid()).description('Campaign that this one follows; null if it is no follow-up.'),
  followUps: optional(list(followUp)).description(
    'Follow-ups of the campaign and of those, oldest first. Only in the answer for a single campaign.',
  ),
  combined: optional(
    nullable(
      object({
        recipients: count().description('Number of recipients.'),
        opened: count().description('Number of people who opened or clicked.'),
        clicked: count().description('Number of people who clicked a link.'),
      }),
    ),
  ).description(
    'Contacts of the original and all its follow-ups together, each counted once; null without a follow-up, or where counting takes too long. Only in the ' +
      'answer for a single campaign.',
  ),
  ratePerMinute: nullable(wholeNumber({ min: 1 })).description(
    'Maximum number of emails per minute; null for no limit.',
  ),
  sendUntil: nullable(dateTime()).description(
    'When sending ends: recipients that are PENDING then are SKIPPED (`too late`); null for no end.',
  ),
  localTime: nullable(text()).description(
    'What clocks of each recipient show when the email is sent, such as `2026-12-01T09:00`; null if all start at once.',
  ),
  late: nullable(oneOf(...lateRules)).description(
    'What happens to recipients whose clocks had shown `localTime` before: NOW sends at once, NEXT_DAY at that time of ' +
      'the next day, SKIP skips them; null without `localTime`.',
  ),
  scheduledFor: nullable(dateTime()).description(
    'When sending is scheduled to start; null if it never was. With `localTime`, when it is that time at UTC+14.',
  ),
  ...countShape,
  estimatedSecondsLeft: nullable(count()).description(
    'Estimated seconds until all emails are sent; null unless the campaign is SENDING, not paused, without `localTime`, ' +
      'and its rate known.',
  ),
  slowedDomains: list(slowedDomain).description(
    'Recipient domains with a reduced sending rate because they deferred emails; empty unless the campaign is SENDING.',
  ),
  projectId: uuid().description('Project ID.'),
  sentAt: nullable(dateTime()).description('When sending was first completed; null until then.'),
  createdAt: dateTime().description('When the campaign was created.'),
  updatedAt: dateTime().description('When the campaign last changed.'),
});

export const campaignStatsShape = {
  ...countShape,
  openRate: fraction().description('Share of sent emails that were opened, including automated opens, 0 to 1.'),
  clickRate: fraction().description('Share of sent emails with a clicked link, including automated clicks, 0 to 1.'),
  humanOpenRate: fraction().description('Share of sent emails that were opened by a person, 0 to 1.'),
  humanClickRate: fraction().description('Share of sent emails with a link clicked by a person, 0 to 1.'),
  bounceRate: fraction().description('Share of sent and refused emails that bounced, 0 to 1.'),
  deliveryRate: fraction().description('Share of sent emails that were delivered, 0 to 1.'),
};
export const campaignStatsSchema = namedType('CampaignStats', 'Counts and rates of a campaign.', campaignStatsShape);

export const presentCampaignStats = (view: CampaignView) => {
  const { counts } = view;
  const shareOf = (part: number, whole = counts.sent) => (whole > 0 ? Math.min(part / whole, 1) : 0);
  return {
    ...presentCampaignCounts(view),
    openRate: shareOf(counts.opened),
    clickRate: shareOf(counts.clicked),
    humanOpenRate: shareOf(counts.humanOpened),
    humanClickRate: shareOf(counts.humanClicked),
    bounceRate: shareOf(counts.bounced, counts.sent + counts.refused),
    deliveryRate: shareOf(counts.delivered),
  };
};

export const recipientSchema = namedType('CampaignRecipient', 'A recipient of a campaign with the result.', {
  contactId: uuid().description('Contact ID.'),
  email: nullable(email()).description('Email address; null once the contact is deleted.'),
  status: oneOf(...recipientStates).description('Result for this recipient.'),
  reason: nullable(text()).description(
    'Why the recipient has this status, such as `local time` or `too late`; null if there is no reason.',
  ),
  postponedUntil: nullable(dateTime()).description(
    'Until when the email is postponed; null unless the recipient is PENDING for a reason such as `local time`.',
  ),
  emailId: uuid().description('Email ID.'),
  attempts: count().description('Number of delivery attempts.'),
  sentAt: nullable(dateTime()).description('When the email was sent; null until then.'),
  openedAt: nullable(dateTime()).description('When a person first opened the email or clicked a link in it, or null.'),
  clickedAt: nullable(dateTime()).description('When a person first clicked a link in the email, or null.'),
  bouncedAt: nullable(dateTime()).description('When the email bounced, or null.'),
  links: list(uuid()).description('IDs of the links that a person clicked; a few seconds behind.'),
});

export const presentRecipient = ({
  postponedUntil,
  sentAt,
  openedAt,
  clickedAt,
  bouncedAt,
  ...recipient
}: Recipient) => ({
  ...recipient,
  postponedUntil: postponedUntil?.toISOString() ?? null,
  sentAt: sentAt?.toISOString() ?? null,
  openedAt: openedAt?.toISOString() ?? null,
  clickedAt: clickedAt?.toISOString() ?? null,
  bouncedAt: bouncedAt?.toISOString() ?? null,
});
