import type { Accepted } from '../../services/emails/send.ts';
import { dateTime, email, flag, list, object, uuid } from '../http/schemas.ts';

export const sentSchema = object({
  success: flag(),
  data: object({
    emails: list(object({ contact: object({ id: uuid(), email: email() }), email: uuid() })),
    timestamp: dateTime(),
  }),
});

export const presentSent = ({ emails, timestamp }: Accepted) => ({
  emails: emails.map(({ contact: { id, email: address }, email: emailId }) => ({
    contact: { id, email: address },
    email: emailId,
  })),
  timestamp: timestamp.toISOString(),
});
