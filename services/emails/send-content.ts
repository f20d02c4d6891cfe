import type { Template, TemplateType } from '../../db/models/template.ts';
import { ApiError, type Fault, validationError } from '../../platform/errors.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import type { MailAttachment } from '../../platform/mailer.ts';
import { encodeText } from '../../platform/mime-body.ts';
import type { Address, SendInput } from './send.ts';

/** What all mails of a request have in common. */
export interface MailContent {
  from: Address;
  reply: string | null;
  subject: string;
  body: string;
  type: TemplateType;
  headers: Record<string, string>;
  attachmentSet: string | null;
  templateId: string | null;
}

export interface SendLimits {
  attachmentMaxBytes: number;
  messageMaxBytes: number;
  limits: Limits;
}

export const NO_LIMITS: SendLimits = {
  attachmentMaxBytes: Number.POSITIVE_INFINITY,
  messageMaxBytes: Number.POSITIVE_INFINITY,
  limits: UNLIMITED,
};

/** What the request says, else what the template says. */
export function contentOf(input: SendInput, template: Template | null | undefined, limits: SendLimits): MailContent {
  const from = input.from ?? senderOf(template);
  const subject = input.subject ?? template?.subject;
  const body = input.body ?? template?.body;
  if (!from || subject === undefined || body === undefined) throw incomplete({ from, subject, body }, template);
  checkSizes(body, input.attachments ?? [], limits);
  checkCopies(body, input.to.length, limits);
  return {
    from,
    subject,
    body,
    reply: input.reply ?? template?.replyTo ?? null,
    type: template?.type ?? 'TRANSACTIONAL',
    headers: input.headers ?? {},
    attachmentSet: null,
    templateId: template?.id ?? null,
  };
}

function senderOf(template: Template | null | undefined): Address | undefined {
  if (!template?.fromEmail) return undefined;
  return { email: template.fromEmail, ...(template.fromName && { name: template.fromName }) };
}

function incomplete(content: Record<'from' | 'subject' | 'body', unknown>, template: Template | null | undefined) {
  const because = template ? ': the template has none' : '';
  const missing = Object.entries(content).filter(([, value]) => value === undefined);
  return validationError(
    missing.map(([field]): Fault => ({ field, message: `"${field}" is required${because}`, code: 'required' })),
  );
}

function checkSizes(body: string, attachments: MailAttachment[], limits: SendLimits): void {
  const files = attachments.reduce((sum, { content }) => sum + content.length, 0);
  if (files > limits.attachmentMaxBytes) {
    const message = `"attachments" are larger than ${limits.attachmentMaxBytes} bytes together`;
    throw validationError([{ field: 'attachments', message, code: 'too_big' }]);
  }
  // A shorter text cannot be too large, whatever characters it has: the count would cost more than the rest.
  if (files + body.length * 3 < limits.messageMaxBytes / 2) return;
  // In a mail, files are written in lines of base64, and text in characters of ASCII, of which it may take three times as many.
  const whole = encodeText(body).text.length + Math.ceil((Math.ceil(files / 3) * 4 * 78) / 76);
  if (whole > limits.messageMaxBytes) {
    const message = `The message is larger than the ${limits.messageMaxBytes} bytes that a mail may have.`;
    throw new ApiError(413, 'PAYLOAD_TOO_LARGE', message);
  }
}

/** Messages of the largest size that one request may add to the ledger: every recipient has a copy of the body there. */
const MAX_COPIES = 16;

function checkCopies(body: string, recipients: number, { messageMaxBytes }: SendLimits): void {
  const most = MAX_COPIES * messageMaxBytes;
  if (recipients === 1 || body.length * recipients <= most) return;
  const message = `"body" times ${recipients} recipients is larger than the ${most} bytes that one request may send.`;
  throw new ApiError(413, 'PAYLOAD_TOO_LARGE', message, { suggestion: 'Send to fewer recipients at once.' });
}
