import joi from 'joi';
import { sendEmails } from '../../services/emails/send.ts';
import { asAddress, recipients, sender } from '../http/addresses.ts';
import { answer, failure, success } from '../http/answers.ts';
import { contactData } from '../http/contact-data.ts';
import { refuse } from '../http/faults.ts';
import { keyReused, onceByKey } from '../http/idempotency.ts';
import { route, routes } from '../http/route.ts';
import { email, flag, line, notYet, nullable, optional, text } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { presentSent, sentSchema } from '../presenters/sent.ts';

/** 998 is the longest line of RFC 5322. */
const MAX_SUBJECT = 998;

const subject = (): Typed<string> =>
  joi
    .string()
    .max(MAX_SUBJECT)
    .custom((value: string, helpers) =>
      /[\r\n]/.test(value) ? refuse(helpers, 'invalid_string', 'must not contain line breaks') : value,
    )
    .required();

export const send = routes('Emails', [
  route({
    method: 'POST',
    path: '/v1/send',
    summary: 'Send a transactional e-mail to one or several recipients, each with a mail of its own',
    access: 'secretKey',
    bodyLimit: ({ messageMaxBytes }) => messageMaxBytes,
    body: {
      to: recipients(),
      from: sender(),
      /** Deprecated: the sender's name, when `from` has none. */
      name: optional(nullable(line({ min: 0, max: 255 }))),
      subject: subject(),
      body: text(),
      reply: optional(email()),
      subscribed: optional(flag()),
      data: optional(nullable(contactData())),
      template: notYet(),
      headers: notYet(),
      attachments: notYet(),
    },
    answers: {
      200: answer('The mails are accepted and will be sent.', sentSchema),
      403: failure('The domain of the sender is not verified, or the project is disabled.', 'INTERNAL_SERVER_ERROR'),
      409: keyReused,
    },
    handle: async (call) => {
      const { to, from, name, ...rest } = call.body;
      const input = {
        ...rest,
        to: (Array.isArray(to) ? to : [to]).map(asAddress),
        from: { ...(name && { name }), ...asAddress(from) },
      };
      const sent = await onceByKey(call, async (db) => {
        const result = await sendEmails(db, call.project, input);
        return { result, response: { emails: result.emails } };
      });
      return success(presentSent(sent));
    },
  }),
]);
