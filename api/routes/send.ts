import { type Address, sendEmails } from '../../services/emails/send.ts';
import { asAddress, type GivenAddress, recipients, senderAddress } from '../http/addresses.ts';
import { answer, failure, missing, overCap, success } from '../http/answers.ts';
import { asAttachments, attachments } from '../http/attachments.ts';
import { contactData } from '../http/contact-data.ts';
import { keyReused, onceByKey } from '../http/idempotency.ts';
import { mailHeaders } from '../http/mail-headers.ts';
import { route, routes } from '../http/route.ts';
import { email, flag, line, nullable, optional, text, uuid } from '../http/schemas.ts';
import { subject } from '../http/subject.ts';
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
    summary: 'Send a transactional e-mail to one or several recipients, one mail each',
    access: 'secretKey',
    scope: 'send:write',
    bodyLimit: ({ messageMaxBytes }) => messageMaxBytes,
    body: {
      to: recipients(),
      /** Required unless a template has it, like subject and body. */
      from: optional(senderAddress()),
      /** Deprecated: the sender's name, when `from` has none. */
      name: optional(nullable(line({ min: 0, max: 255 }))),
      subject: optional(subject()),
      body: optional(text()),
      reply: optional(email()),
      subscribed: optional(flag()),
      data: optional(nullable(contactData())),
      template: optional(nullable(uuid())),
      headers: optional(nullable(mailHeaders())),
      attachments: optional(nullable(attachments())),
    },
    answers: {
      200: answer('The mails are accepted and will be sent.', sentSchema),
      400: failure('A recipient is not subscribed, and the template is not TRANSACTIONAL.', 'BAD_REQUEST'),
      402: overCap,
      403: failure('The domain of the sender is not verified, or the project is disabled.', 'INTERNAL_SERVER_ERROR'),
      404: missing('template', 'TEMPLATE_NOT_FOUND'),
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
        const made = result.emails.map(({ contact, email }) => ({ contact: { id: contact.id }, email }));
        return { result, response: { emails: made } };
      });
      return success(presentSent(sent));
    },
  }),
]);
