import PostalMime, { type Attachment, type Email } from 'postal-mime';
import type { SigningKeys } from '../../platform/cursor.ts';
import type { BounceType, Notice } from '../emails/notices.ts';
import { MARK_HEADER, openReturnPath, openReturnToken } from '../emails/return-token.ts';

/** Of a mail that was returned: more is never looked at, whatever came along with it. */
export const LOOKED_AT_BYTES = 512 * 1024;

const MAX_REASON = 500;
const LIMITS = { forceRfc822Attachments: true, maxNestingDepth: 20, maxHeadersSize: 256 * 1024 };
/** Where feedback loops send their reports; the mail is then named inside. */
const DESKS = ['abuse', 'fbl', 'complaints', 'feedback', 'postmaster'];

/** Whether returned mail may be addressed so: to one of our mails, or to a desk for complaints. */
export function takesReturnedMail(keys: SigningKeys, address: string): boolean {
  const [local = ''] = address.toLowerCase().split('@');
  return openReturnPath(keys, address) !== undefined || DESKS.includes(local);
}

/**
 * What a returned mail tells: a delivery status notification (RFC 3464) or a feedback report (RFC 5965) about a mail
 * that its address or its content proves to be ours. Empty for everything else: answers, vacation notices, forgeries.
 */
export async function readReturnedMail(keys: SigningKeys, to: string, raw: Uint8Array): Promise<Notice[]> {
  let report: Email;
  try {
    report = await new ReportParser(LIMITS).parse(raw.subarray(0, LOOKED_AT_BYTES));
  } catch {
    return [];
  }
  const parts = partsOf(report);
  const id = openReturnPath(keys, to) ?? idInside(keys, parts);
  if (!id) return [];
  const status = parts.find(({ type }) => type === 'message/delivery-status');
  const feedback = parts.find(({ type }) => type === 'message/feedback-report');
  const notice = status ? ofStatus(status.text) : feedback && ofFeedback(feedback.text);
  return notice ? [{ mail: { id }, ...notice }] : [];
}

/**
 * Leaves out what postal-mime does with bodies, which nothing here reads: its conversion between HTML and text takes
 * quadratic time on links that are never closed, and anybody can send those to this machine.
 */
class ReportParser extends PostalMime {
  renderTextContent(): void {}
}

interface ReportPart {
  type: string;
  text: string;
}

const partsOf = ({ attachments }: Email): ReportPart[] =>
  attachments.map(({ mimeType, content }) => ({
    type: mimeType.replace('message/global', 'message/'),
    text: textOf(content),
  }));

const textOf = (content: Attachment['content']): string =>
  typeof content === 'string' ? content : Buffer.from(content as Uint8Array).toString('utf8');

/** In the head of the mail that came back, or in what the report says of its envelope. */
function idInside(keys: SigningKeys, parts: ReportPart[]): string | undefined {
  for (const { type, text } of parts) {
    if (type === 'message/feedback-report') {
      const from = fieldsOf(text).get('original-mail-from');
      const id = from && openReturnPath(keys, from);
      if (id) return id;
    }
    if (/^(message\/rfc822|text\/rfc822-headers|message\/headers|message\/-headers)$/.test(type)) {
      const head = fieldsOf(text.split(/\r?\n\r?\n/, 1)[0] ?? '');
      const id = openReturnToken(keys, head.get(MARK_HEADER.toLowerCase()) ?? '');
      if (id) return id;
    }
  }
  return undefined;
}

/** `Name: value` lines, folded or not; of a name that is there twice the first counts. */
function fieldsOf(block: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of block.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    if (colon > 0 && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
  }
  return fields;
}

/** Behind the block about the message there is one for each recipient; our mails have one. */
function ofStatus(text: string): Omit<Notice, 'mail'> | undefined {
  const blocks = text
    .trim()
    .split(/\r?\n[ \t]*\r?\n/)
    .map(fieldsOf);
  const recipient = blocks.find((fields) => fields.has('action'));
  const action = recipient?.get('action')?.toLowerCase();
  if (!recipient || !action) return undefined;
  if (action === 'delivered') return { kind: 'delivery' };
  // `delayed` may still arrive; `relayed` and `expanded` say nothing about how it ends.
  if (action !== 'failed') return undefined;
  const diagnostic = recipient.get('diagnostic-code') ?? '';
  const status = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(`${recipient.get('status') ?? ''} ${diagnostic}`)?.[0] ?? '';
  const reason = (diagnostic || status || 'returned').slice(0, MAX_REASON);
  return { kind: 'bounce', bounceType: bounceTypeOf(status, diagnostic), reason };
}

/** RFC 3463. Permanent is only what speaks of the address: a full mailbox or a disliked text is no reason to give up. */
export function bounceTypeOf(status: string, diagnostic: string): BounceType {
  const [kind, subject = '', detail = ''] = status.split('.');
  if (kind === '4') return 'Transient';
  if (kind !== '5') return 'Undetermined';
  if (subject === '1' && detail !== '7' && detail !== '8') return 'Permanent';
  if (subject === '2') return detail === '2' || detail === '3' ? 'Transient' : 'Permanent';
  // The domain is not there, or takes no mail.
  if (subject === '4' && detail === '4') return 'Permanent';
  if (subject === '6' || (subject === '3' && detail === '4')) return 'Transient';
  if (subject === '0' || subject === '5') return /\b(550|551|553)\b/.test(diagnostic) ? 'Permanent' : 'Undetermined';
  return 'Undetermined';
}

function ofFeedback(text: string): Omit<Notice, 'mail'> | undefined {
  const type = fieldsOf(text).get('feedback-type')?.toLowerCase();
  return type === undefined || type === 'not-spam'
    ? undefined
    : { kind: 'complaint', reason: type.slice(0, MAX_REASON) };
}
