// The body and the answer of routes that send a test email.
import { email, flag, namedType, optional, request, uuid } from './schemas.ts';

export const testEmailRequest = request('SendTestEmailRequest', 'Recipient of a test email.', {
  email: email().description(
    'Email address of the recipient. Variables are filled in from its contact, if there is one.',
  ),
  contactId: optional(uuid()).description(
    'Contact whose data fills in the variables instead; a key needs `contacts:read` too. Links stay those of the recipient.',
  ),
});

export const testEmailResponse = namedType('SendTestEmailResponse', 'A test email that was accepted.', {
  success: flag().description('Always true.'),
});
