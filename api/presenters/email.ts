import type { EmailRecord } from '../../services/emails/find.ts';
import { dateTime, nullable, object, text, uuid, wholeNumber } from '../http/schemas.ts';

export const emailSchema = object({
  id: uuid(),
  contactId: uuid(),
  sourceType: text(),
  templateId: nullable(uuid()),
  status: text(),
  reason: nullable(text()),
  attempts: wholeNumber(),
  unknownOutcomes: wholeNumber(),
  messageId: nullable(text()),
  providerMessageId: nullable(text()),
  to: nullable(text()),
  from: nullable(text()),
  subject: nullable(text()),
  createdAt: dateTime(),
  updatedAt: dateTime(),
  sentAt: nullable(dateTime()),
});

export const presentEmail = ({ createdAt, updatedAt, sentAt, ...email }: EmailRecord) => ({
  ...email,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
  sentAt: sentAt?.toISOString() ?? null,
});
