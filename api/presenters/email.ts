import type { EmailRecord } from '../../services/emails/email-record.ts';
import type { EmailWithAttempts } from '../../services/emails/find.ts';
import { dateTime, flag, list, nullable, object, oneOf, record, text, uuid, wholeNumber } from '../http/schemas.ts';

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
  id: uuid(),
  contactId: uuid(),
  sourceType: oneOf('TRANSACTIONAL', 'WORKFLOW', 'CAMPAIGN'),
  templateId: nullable(uuid()),
  campaignId: nullable(uuid()),
  workflowId: nullable(uuid()),
  executionId: nullable(uuid()),
  status: oneOf(...emailStatuses),
  reason: nullable(text()),
  attemptCount: wholeNumber(),
  unknownOutcomes: wholeNumber(),
  messageId: nullable(text()),
  providerMessageId: nullable(text()),
  to: nullable(text()),
  from: nullable(text()),
  subject: nullable(text()),
  bounceType: nullable(text()),
  createdAt: dateTime(),
  updatedAt: dateTime(),
  sentAt: nullable(dateTime()),
  deliveredAt: nullable(dateTime()),
  openedAt: nullable(dateTime()),
  clickedAt: nullable(dateTime()),
  bouncedAt: nullable(dateTime()),
  complainedAt: nullable(dateTime()),
};

export const emailSchema = object(fields);

const attemptSchema = object({
  number: wholeNumber(),
  startedAt: dateTime(),
  endedAt: dateTime(),
  relay: nullable(text()),
  outcome: oneOf('sent', 'deferred', 'refused', 'unknown'),
  answer: nullable(text()),
});

export const emailStorySchema = object({
  ...fields,
  /** The same as `attemptLog`, under its earlier name. */
  attempts: list(attemptSchema),
  attemptLog: list(attemptSchema),
});

export const emailContentSchema = object({
  subject: text({ min: 0 }),
  html: text({ min: 0 }),
  text: text({ min: 0 }),
  headers: record(),
  /** It was rendered again with the present data of the contact. */
  reproduced: flag(),
  /** Shows the HTML inert, for an hour. */
  previewUrl: text(),
});

export const presentEmail = (email: EmailRecord) => ({
  ...email,
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
