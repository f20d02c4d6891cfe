import type { Accepted } from '../../services/emails/send.ts';
import { dateTime, email, flag, list, namedType, object, optional, text, uuid } from '../http/schemas.ts';

const acceptedEmail = object({
  contact: object({
    id: uuid().description('Contact ID.'),
    email: email().description('Email address of the recipient.'),
  }).description('The recipient.'),
  email: uuid().description('Email ID.'),
  skipped: optional(text()).description('Why the recipient does not get the email, such as `topic unsubscribed`.'),
});

export const sentSchema = namedType('SendResponse', 'Emails that were accepted and will be sent.', {
  success: flag().description('Always true.'),
  data: object({
    emails: list(acceptedEmail).description('One entry per recipient, in the order of `to`.'),
    timestamp: dateTime().description('When the request was accepted.'),
  }).description('The accepted emails.'),
});

export const presentSent = ({ emails, timestamp }: Accepted) => ({
  emails: emails.map(({ contact: { id, email: address }, email: emailId, skipped }) => ({
    contact: { id, email: address },
    email: emailId,
    ...(skipped && { skipped }),
  })),
  timestamp: timestamp.toISOString(),
});
