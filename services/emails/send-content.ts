import type { Template, TemplateType } from '../../db/models/template.ts';
import { ApiError, type Violation, validationError } from '../../platform/errors.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import type { MailAttachment } from '../../platform/mime/compose.ts';
import { encodeText } from '../../platform/mime/encoding.ts';
import type { Data } from '../contacts/data.ts';
import type { ChoicesInput } from '../topics/choices.ts';

export interface Address {
  email: string;
  name?: string | undefined;
}

/** Its choices are those of the recipients. */
export interface SendInput extends ChoicesInput {
  /** At least one; each recipient gets a separate mail. */
  to: Address[];
  /** From, subject and body default to the template's, and are required if it has none. */
  from?: Address | undefined;
  subject?: string | undefined;
  body?: string | undefined;
  template?: string | null | undefined;
  /** Key or id; wins over the template's. */
  topic?: string | null | undefined;
  reply?: string | undefined;
  subscribed?: boolean | undefined;
  data?: Data | null | undefined;
  headers?: Record<string, string> | null | undefined;
  attachments?: MailAttachment[] | null | undefined;
}

/** What mail takes from a template. */
export type MailTemplate = Pick<
  Template,
  'id' | 'type' | 'subject' | 'body' | 'fromEmail' | 'fromName' | 'replyTo' | 'topicId'
>;

/** The content that all mails of a request share. */
export interface MailContent {
  from: Address;
  reply: string | null;
  subject: string;
  body: string;
  /** Whether the body is the template's own text. */
  bodyIsTemplates: boolean;
  type: TemplateType;
  headers: Record<string, string>;
  attachmentSet: string | null;
  templateId: string | null;
  topicId: string | null;
  /** Of a template that was remembered, and may be outdated. */
  templateVersion?: number;
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

/** Takes each part from the request, else from the template. */
export function contentOf(input: SendInput, template: MailTemplate | undefined, limits: SendLimits): MailContent {
  const from = input.from ?? senderOf(template);
  const subject = input.subject ?? template?.subject;
  const body = input.body ?? template?.body;
  if (!from || subject === undefined || body === undefined) throw incomplete({ from, subject, body }, template);
  checkSizes(body, input.attachments ?? [], limits);
  return {
    from,
    subject,
    body,
    bodyIsTemplates: input.body === undefined,
    reply: input.reply ?? template?.replyTo ?? null,
    type: template?.type ?? 'TRANSACTIONAL',
    headers: input.headers ?? {},
    attachmentSet: null,
    templateId: template?.id ?? null,
    topicId: template?.topicId ?? null,
  };
}

function senderOf(template: MailTemplate | undefined): Address | undefined {
  if (!template?.fromEmail) return undefined;
  return { email: template.fromEmail, ...(template.fromName && { name: template.fromName }) };
}

function incomplete(content: Record<'from' | 'subject' | 'body', unknown>, template: MailTemplate | undefined) {
  const cause = template ? ': the template has none' : '';
  const missing = Object.entries(content).filter(([, value]) => value === undefined);
  return validationError(
    missing.map(([field]): Violation => ({ field, message: `"${field}" is required${cause}`, code: 'required' })),
  );
}

function checkSizes(body: string, attachments: MailAttachment[], limits: SendLimits): void {
  const files = attachments.reduce((sum, { content }) => sum + content.length, 0);
  if (files > limits.attachmentMaxBytes) {
    const message = `"attachments" must not exceed ${limits.attachmentMaxBytes} bytes in total`;
    throw validationError([{ field: 'attachments', message, code: 'too_big' }]);
  }
  // Skips the exact count for short texts, which cannot be too large in any encoding.
  if (files + body.length * 3 < limits.messageMaxBytes / 2) return;
  // Files are encoded as base64 lines, and text as ASCII, which can be three times as long.
  const messageBytes = encodeText(body).text.length + Math.ceil((Math.ceil(files / 3) * 4 * 78) / 76);
  if (messageBytes > limits.messageMaxBytes) {
    const message = `The message exceeds the limit of ${limits.messageMaxBytes} bytes.`;
    throw new ApiError(413, 'PAYLOAD_TOO_LARGE', message);
  }
}
