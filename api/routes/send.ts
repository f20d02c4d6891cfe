import { type Address, sendEmails } from '../../services/emails/send.ts';
import { asAddress, type GivenAddress, recipients, senderAddress } from '../http/addresses.ts';
import { answer, failure, missing, overBillingLimit, success } from '../http/answers.ts';
import { asAttachments, attachments } from '../http/attachments.ts';
import { contactData } from '../http/contact-data.ts';
import { keyReused, onceByKey } from '../http/idempotency.ts';
import { mailHeaders } from '../http/mail-headers.ts';
import { route, routes } from '../http/route.ts';
import { email, flag, line, nullable, optional, request, text, uuid } from '../http/schemas.ts';
import { subject } from '../http/subject.ts';
import { confirmationMode, givenConsent, topicChoices } from '../http/topic-schemas.ts';
import { presentSent, sentSchema } from '../presenters/sent.ts';

/** `name` applies to a sender given as text without a name. */
function senderOf(from: GivenAddress | undefined, name: string | null | undefined): Address | undefined {
  if (from === undefined) return undefined;
  return typeof from === 'string' && name ? { email: from, name } : asAddress(from);
}

export const send = routes('Emails', [
  route({
    method: 'POST',
    path: '/v1/send',
    checksKey: true,
    summary: 'Send a transactional email to one or several recipients',
    access: 'secretKey',
    scope: 'send:write',
    bodyLimit: ({ messageMaxBytes }) => messageMaxBytes,
    body: request('SendRequest', 'An email to one or several recipients. Each gets their own copy.', {
      to: recipients().description('Recipients: an address, an address with a name, or a list of them.'),
      from: optional(senderAddress()).description(
        'Sender, on a verified domain. Required unless the template has one.',
      ),
      name: optional(nullable(line({ min: 0, max: 255 }))).description(
        'Deprecated: name of the sender. Use `from: { email, name }`.',
      ),
      subject: optional(subject()).description('Subject, with variables. Required unless the template has one.'),
      body: optional(text())
        .description('HTML body, with variables. Required unless the template has one.')
        .example('<p>Hello {{name ?? "there"}}</p>'),
      reply: optional(email()).description('Reply-To address.'),
      subscribed: optional(flag()).description('New subscription state of the recipients; unchanged if left out.'),
      data: optional(nullable(contactData()))
        .description('Values of the variables; stored as custom fields of the recipients.')
        .example({ name: 'Ann' }),
      template: optional(nullable(uuid())).description('ID of a template that provides subject, body and sender.'),
      topic: optional(nullable(text({ max: 50 }))).description(
        'Topic of the email, by key or ID; takes precedence over the topic of the template. ' +
          'Recipients who may not get it are skipped.',
      ),
      topics: optional(topicChoices())
        .description('New states of the recipients, by key or ID of the topic.')
        .example({ 'product-news': 'SUBSCRIBED' }),
      consent: optional(givenConsent()).description('Proof that the recipients agreed to `topics`.'),
      confirmation: optional(confirmationMode()).description(
        'SKIP asks for no confirmation of a topic with `doubleOptIn`; needs `consent` with `at` and `source`.',
      ),
      headers: optional(nullable(mailHeaders()))
        .description('Additional header fields.')
        .example({ 'X-Order': '4711' }),
      attachments: optional(nullable(attachments())).description('Files to attach, at most 10.'),
    }),
    answers: {
      200: answer('The emails were accepted and will be sent.', sentSchema),
      400: failure(
        'The template is not TRANSACTIONAL and has no topic, and a recipient is not subscribed or the project requires a topic.',
        'BAD_REQUEST',
      ),
      402: overBillingLimit,
      403: failure('The domain of the sender is not verified, or the project is disabled.', 'INTERNAL_SERVER_ERROR'),
      404: missing('template or topic', 'TEMPLATE_NOT_FOUND'),
      409: keyReused,
      413: failure('The message is too large.', 'PAYLOAD_TOO_LARGE'),
    },
    handle: async (call) => {
      const { to, from, name, attachments, ...rest } = call.body;
      const input = {
        ...rest,
        to: (Array.isArray(to) ? to : [to]).map(asAddress),
        from: senderOf(from, name),
        attachments: asAttachments(attachments),
      };
      const sent = await onceByKey(call, async (db) => {
        const result = await sendEmails(db, call.project, input, call.settings);
        // Without addresses: the stored response outlives a deleted contact.
        const made = result.emails.map(({ contact, email, skipped }) => ({
          contact: { id: contact.id },
          email,
          ...(skipped && { skipped }),
        }));
        return { result, response: { emails: made } };
      });
      return success(presentSent(sent));
    },
  }),
]);
