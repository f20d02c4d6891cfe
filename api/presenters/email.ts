import type { EmailRecord } from '../../services/emails/email-record.ts';
import type { EmailWithAttempts } from '../../services/emails/find.ts';
import { dateTime, flag, list, namedType, nullable, oneOf, record, text, uuid, wholeNumber } from '../http/schemas.ts';

export const emailStatuses = [
  'PENDING',
  'SENDING',
  'SENT',
  'DELIVERED',
  'OPENED',
  'CLICKED',
  'BOUNCED',
  'COMPLAINED',
  'FAILED',
  'SKIPPED',
  'CANCELLED',
  'UNKNOWN',
] as const;

const fields = {
  id: uuid().description('Email ID.'),
  contactId: nullable(uuid()).description(
    'Contact ID of the recipient; null for the confirmation of a form, which has none yet.',
  ),
  sourceType: oneOf('TRANSACTIONAL', 'WORKFLOW', 'CAMPAIGN').description(
    'What sent the email: an API request, a workflow or a campaign.',
  ),
  templateId: nullable(uuid()).description('Template ID; null if there is none.'),
  campaignId: nullable(uuid()).description('Campaign ID; null unless a campaign sent the email.'),
  workflowId: nullable(uuid()).description('Workflow ID; null unless a workflow sent the email.'),
  executionId: nullable(uuid()).description('Execution ID; null unless a workflow sent the email.'),
  status: oneOf(...emailStatuses).description('Email status.'),
  reason: nullable(text()).description(
    'Why the email has this status, such as `local time` or `too late`; null if there is no reason.',
  ),
  postponedUntil: nullable(dateTime()).description(
    'Until when the PENDING email is postponed, for example by `local time`; null for other emails.',
  ),
  attemptCount: wholeNumber().description('Number of delivery attempts.'),
  unknownOutcomes: wholeNumber().description('Number of attempts for which it is not known whether they succeeded.'),
  messageId: nullable(text()).description('Message-ID header; null once the sender is erased.'),
  providerMessageId: nullable(text()).description('Message ID that the mail relay assigned; null if it is not known.'),
  to: nullable(text()).description('Email address of the recipient; null once erased.'),
  from: nullable(text()).description('Email address of the sender; null once erased.'),
  subject: nullable(text()).description('Subject; null once erased.'),
  bounceType: nullable(text())
    .description('Bounce type; null unless the email bounced. `Permanent` is a hard bounce.')
    .example('Permanent'),
  createdAt: dateTime().description('When the email was created.'),
  updatedAt: dateTime().description('When the email last changed.'),
  sentAt: nullable(dateTime()).description('When the email was sent; null until then.'),
  deliveredAt: nullable(dateTime()).description('When the email was delivered; null until that is reported.'),
  openedAt: nullable(dateTime()).description('When the email was first opened; null until then.'),
  clickedAt: nullable(dateTime()).description('When a link was first clicked; null until then.'),
  bouncedAt: nullable(dateTime()).description('When the email first bounced; null unless it did.'),
  complainedAt: nullable(dateTime()).description('When the email was first reported as spam; null unless it was.'),
};

export const emailSchema = namedType('Email', 'An email to one recipient.', fields);

const attemptSchema = namedType('EmailAttempt', 'An attempt to hand over an email to a mail relay.', {
  number: wholeNumber().description('Number of the attempt, from 1.'),
  startedAt: dateTime().description('When the attempt started.'),
  endedAt: dateTime().description('When the attempt ended.'),
  relay: nullable(text()).description('Name of the mail relay; null if it is not known.'),
  outcome: oneOf('sent', 'deferred', 'refused', 'unknown').description('Outcome of the attempt.'),
  answer: nullable(text()).description('Reply of the mail relay; null if there is none.'),
});

export const emailStorySchema = namedType('EmailDetail', 'An email with its delivery attempts.', {
  ...fields,
  attempts: list(attemptSchema).description('Deprecated: same as `attemptLog`.'),
  attemptLog: list(attemptSchema).description('Delivery attempts, oldest first.'),
});

export const emailContentSchema = namedType('EmailContent', 'Content of an email, without tracking.', {
  subject: text({ min: 0 }).description('Rendered subject.'),
  html: text({ min: 0 }).description('Rendered HTML body.'),
  text: text({ min: 0 }).description('Rendered plain text body.'),
  headers: record().description('Header fields by name.').example({ 'Reply-To': 'support@example.com' }),
  reproduced: flag().description(
    'Whether the content was rendered again with current contact data, so that it may differ from what was sent.',
  ),
  previewUrl: text().description('URL of a page that shows the HTML in a sandbox; valid for an hour.'),
});

export const presentEmail = (email: EmailRecord) => ({
  ...email,
  postponedUntil: timeOf(email.postponedUntil),
  createdAt: email.createdAt.toISOString(),
  updatedAt: email.updatedAt.toISOString(),
  sentAt: timeOf(email.sentAt),
  deliveredAt: timeOf(email.deliveredAt),
  openedAt: timeOf(email.openedAt),
  clickedAt: timeOf(email.clickedAt),
  bouncedAt: timeOf(email.bouncedAt),
  complainedAt: timeOf(email.complainedAt),
});

export const presentEmailStory = ({ attemptLog, ...email }: EmailWithAttempts) => ({
  ...presentEmail(email),
  attempts: attemptLog,
  attemptLog,
});

const timeOf = (date: Date | null): string | null => date?.toISOString() ?? null;
