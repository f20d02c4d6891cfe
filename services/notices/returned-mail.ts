import PostalMime, { type Attachment, type Email } from 'postal-mime';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import type { BounceType, Notice } from '../emails/notices.ts';
import { EMAIL_ID_HEADER, openReturnPath, openReturnToken } from '../emails/return-token.ts';

/** Only the first bytes of a returned mail are parsed. */
export const MAX_PARSED_BYTES = 512 * 1024;

const MAX_REASON = 500;
const LIMITS = { forceRfc822Attachments: true, maxNestingDepth: 20, maxHeadersSize: 256 * 1024 };
/** The mailboxes that feedback loops send reports to. The report names the mail. */
const REPORT_MAILBOXES = ['abuse', 'fbl', 'complaints', 'feedback', 'postmaster'];

/** Whether an address takes returned mail: the return path of one of our mails, or a mailbox for reports. */
export function takesReturnedMail(keys: SigningKeys, address: string): boolean {
  const [local = ''] = address.toLowerCase().split('@');
  return openReturnPath(keys, address) !== undefined || REPORT_MAILBOXES.includes(local);
}

/**
 * Reads a delivery status notification (RFC 3464) or a feedback report (RFC 5965) about a mail that its address or content
 * proves to be ours. Returns no notice for everything else: replies, vacation notices, forgeries.
 */
export async function readReturnedMail(keys: SigningKeys, to: string, raw: Uint8Array): Promise<Notice[]> {
  let report: Email;
  try {
    report = await new ReportParser(LIMITS).parse(raw.subarray(0, MAX_PARSED_BYTES));
  } catch {
    return [];
  }
  const parts = partsOf(report);
  const id = openReturnPath(keys, to) ?? findMailId(keys, parts);
  if (!id) return [];
  const status = parts.find(({ type }) => type === 'message/delivery-status');
  const feedback = parts.find(({ type }) => type === 'message/feedback-report');
  const notice = status ? readStatus(status.text) : feedback && readFeedback(feedback.text);
  return notice ? [{ mail: { id }, ...notice }] : [];
}

/**
 * Skips postal-mime's conversion between HTML and text, which nothing here reads: it takes quadratic time on unclosed
 * links, and anyone can send those to this server.
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

/** Finds the id in the header of the returned mail, or in the envelope sender in the report. */
function findMailId(keys: SigningKeys, parts: ReportPart[]): string | undefined {
  for (const { type, text } of parts) {
    if (type === 'message/feedback-report') {
      const from = fieldsOf(text).get('original-mail-from');
      const id = from && openReturnPath(keys, from);
      if (id) return id;
    }
    if (/^(message\/rfc822|text\/rfc822-headers|message\/headers|message\/-headers)$/.test(type)) {
      const header = fieldsOf(text.split(/\r?\n\r?\n/, 1)[0] ?? '');
      const id = openReturnToken(keys, header.get(EMAIL_ID_HEADER.toLowerCase()) ?? '');
      if (id) return id;
    }
  }
  return undefined;
}

/** Reads `Name: value` lines, folded (RFC 5322) or not. The first of a repeated name counts. */
function fieldsOf(block: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of block.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    if (colon > 0 && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
  }
  return fields;
}

/** The block about the message is followed by one for each recipient; our mails have one recipient. */
function readStatus(text: string): Omit<Notice, 'mail'> | undefined {
  const blocks = text
    .trim()
    .split(/\r?\n[ \t]*\r?\n/)
    .map(fieldsOf);
  const recipient = blocks.find((fields) => fields.has('action'));
  const action = recipient?.get('action')?.toLowerCase();
  if (!recipient || !action) return undefined;
  if (action === 'delivered') return { kind: 'delivery' };
  // `delayed` may still arrive; `relayed` and `expanded` have no known outcome.
  if (action !== 'failed') return undefined;
  const diagnostic = recipient.get('diagnostic-code') ?? '';
  const status = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(`${recipient.get('status') ?? ''} ${diagnostic}`)?.[0] ?? '';
  const reason = (diagnostic || status || 'returned').slice(0, MAX_REASON);
  return { kind: 'bounce', bounceType: bounceTypeOf(status, diagnostic), reason };
}

/** RFC 3463. Only a status about the address is permanent; a full mailbox or rejected content is not. */
export function bounceTypeOf(status: string, diagnostic: string): BounceType {
  const [kind, subject = '', detail = ''] = status.split('.');
  if (kind === '4') return 'Transient';
  if (kind !== '5') return 'Undetermined';
  if (subject === '1' && detail !== '7' && detail !== '8') return 'Permanent';
  if (subject === '2') return detail === '2' || detail === '3' ? 'Transient' : 'Permanent';
  // The domain does not exist or takes no mail.
  if (subject === '4' && detail === '4') return 'Permanent';
  if (subject === '6' || (subject === '3' && detail === '4')) return 'Transient';
  if (subject === '0' || subject === '5') return /\b(550|551|553)\b/.test(diagnostic) ? 'Permanent' : 'Undetermined';
  return 'Undetermined';
}

function readFeedback(text: string): Omit<Notice, 'mail'> | undefined {
  const type = fieldsOf(text).get('feedback-type')?.toLowerCase();
  return type === undefined || type === 'not-spam'
    ? undefined
    : { kind: 'complaint', reason: type.slice(0, MAX_REASON) };
}
