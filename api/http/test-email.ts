// The body and the answer of routes that send a test email.
import { email, flag, namedType, request } from './schemas.ts';

export const testEmailRequest = request('SendTestEmailRequest', 'Recipient of a test email.', {
  email: email().description(
    'Email address of the recipient. Variables are filled in from its contact, if there is one.',
  ),
});

export const testEmailResponse = namedType('SendTestEmailResponse', 'A test email that was accepted.', {
  success: flag().description('Always true.'),
});
