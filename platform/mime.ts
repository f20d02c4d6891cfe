import { domainToASCII } from 'node:url';
import MailComposer from 'nodemailer/lib/mail-composer';
import { type DkimKey, withSignature } from './dkim.ts';
import { encodeText, KnownLines, Scratch, withWholeLines } from './mime-body.ts';
import { addressHeader, isPrintable, onOneLine, simpleAddress, structuredHeader, textHeader } from './mime-head.ts';
import type { WireMail } from './smtp-session.ts';

export interface MailAddress {
  email: string;
  name?: string | null;
}

export interface MailAttachment {
  filename: string;
  contentType: string;
  /** The body shows it by `cid:<contentId>`. */
  contentId?: string | null;
  disposition: 'attachment' | 'inline';
  content: Buffer;
}

/** What the mails of a campaign have in common. */
export interface MailFrame {
  from: MailAddress;
  replyTo?: string | null;
  /** They replace ours where both are there; whoever lets them in has looked at the names. */
  headers?: Record<string, string>;
  /** Without one the mail is not signed. */
  dkim?: DkimKey | undefined;
}

/** What is each mail's own. */
export interface MailFilling {
  /** Makes the Message-ID, together with the sender's domain: the same mail always has the same one. */
  id: string;
  to: MailAddress;
  subject: string;
  html: string;
  text?: string;
  /** Beside those of the frame, e.g. List-Unsubscribe. */
  headers?: Record<string, string>;
  /** Where it is returned to when it cannot be delivered; otherwise to its sender. Plain ASCII. */
  envelopeFrom?: string | undefined;
  /** Shared by mails that were made from the same text. */
  known?: KnownLines | undefined;
}

export interface OutgoingMail extends MailFrame, MailFilling {
  attachments?: MailAttachment[];
}

export function messageId({ id, from }: Pick<OutgoingMail, 'id' | 'from'>): string {
  const domain = from.email.slice(from.email.lastIndexOf('@') + 1);
  return `<${id}@${domainToASCII(domain) || domain}>`;
}

/** Throws for a mail that cannot be written as one. */
export function composeMail(mail: OutgoingMail): Promise<WireMail> {
  const { headers: _, ...filling } = mail;
  return new MailSkeleton(mail).compose(filling);
}

/**
 * For the mails of a campaign: made once, with what they share (its head is written once), then `compose` for each
 * recipient, and `MailLine.send` with what that gives. Only `compose` signs.
 */
export class MailSkeleton {
  private readonly frame: MailFrame;
  private readonly sender: string | undefined;
  private readonly head: string | undefined;
  private known: KnownLines | undefined;
  private filled = 0;

  constructor(frame: MailFrame) {
    this.frame = frame;
    this.sender = simpleAddress(frame.from.email);
    this.head = this.sender && commonHead(this.sender, frame);
  }

  /** Throws for a mail that cannot be written as one. */
  async compose(mail: MailFilling & Pick<OutgoingMail, 'attachments'>): Promise<WireMail> {
    const { dkim, headers } = this.frame;
    const whole = { ...this.frame, ...mail, headers: { ...headers, ...mail.headers } };
    const composed = (!mail.attachments?.length && this.fill(mail)) || (await composeAnything(whole));
    return dkim ? { ...composed, raw: await withSignature(composed.raw, dkim) } : composed;
  }

  /** Undefined for a mail that needs more than we know (odd addresses, headers of odd scripts): nodemailer's turn. */
  fill({ id, to, subject, html, text, headers = {}, envelopeFrom, known }: MailFilling): WireMail | undefined {
    const recipient = simpleAddress(to.email);
    const own = headersOf(Object.entries(headers));
    if (this.sender === undefined || this.head === undefined || recipient === undefined || own === undefined)
      return undefined;
    out.length = 0;
    out.ascii(this.head);
    out.ascii(addressHeader('To', recipient, to.name));
    out.ascii(textHeader('Subject', subject));
    out.ascii(`Message-ID: ${messageId({ id, from: this.frame.from })}\r\nDate: ${dateNow()}\r\n`);
    out.ascii(own);
    // Whoever sends a single mail need not remember it.
    if (this.filled++ > 0) this.known ??= new KnownLines();
    writeBody({ html, text, id }, known ?? this.known);
    return { from: envelopeFrom ?? this.sender, to: recipient, utf8: false, raw: out.take() };
  }
}

const out = new Scratch();

function commonHead(sender: string, { from, replyTo, headers = {} }: MailFrame): string | undefined {
  const given = Object.entries(headers);
  const own = headersOf(given);
  const repliesElsewhere = given.some(([name]) => name.toLowerCase() === 'reply-to');
  const reply = replyTo && !repliesElsewhere ? simpleAddress(replyTo) : '';
  if (own === undefined || reply === undefined) return undefined;
  return `${addressHeader('From', sender, from.name)}${reply && `Reply-To: ${reply}\r\n`}${own}MIME-Version: 1.0\r\n`;
}

const NAME = /^[\x21-\x39\x3b-\x7e]{1,70}$/;
/** Programs read these, so nothing in them may be encoded as text. */
const STRUCTURED = /^(?:list-|resent-|in-reply-to$|references$|reply-to$|auto-submitted$|precedence$|.*-id$|.*-to$)/i;

/** Undefined: not for us. */
function headersOf(entries: [string, string][]): string | undefined {
  let lines = '';
  for (const [name, given] of entries) {
    const value = onOneLine(given);
    if (!NAME.test(name) || value === '') return undefined;
    if (!STRUCTURED.test(name)) lines += textHeader(name, value);
    else if (isPrintable(value) && value.length < 900) lines += structuredHeader(name, value);
    else return undefined;
  }
  return lines;
}

function writeBody({ html, text, id }: Pick<MailFilling, 'html' | 'text' | 'id'>, known?: KnownLines): void {
  if (!text) {
    writePart('html', html, known);
    out.ascii('\r\n');
    return;
  }
  // `=_` cannot be part of quoted-printable, nor `_` of base64.
  const border = `=_${id}`;
  out.ascii(`Content-Type: multipart/alternative;\r\n boundary="${border}"\r\n\r\n--${border}\r\n`);
  writePart('plain', text, known);
  out.ascii(`\r\n--${border}\r\n`);
  writePart('html', html, known);
  out.ascii(`\r\n--${border}--\r\n`);
}

function writePart(kind: 'plain' | 'html', content: string, known?: KnownLines): void {
  const { encoding, text } = encodeText(content, known);
  out.ascii(`Content-Type: text/${kind}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`);
  out.ascii(text);
}

let [second, date] = [0, ''];

/** RFC 5322, 3.3. */
function dateNow(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) [second, date] = [now, new Date(now * 1000).toUTCString().replace('GMT', '+0000')];
  return date;
}

/** Nothing in a mail may read files or fetch addresses, whatever its text says. */
async function composeAnything(mail: OutgoingMail): Promise<WireMail> {
  const { headers = {}, attachments = [] } = mail;
  const repliesElsewhere = Object.keys(headers).some((name) => name.toLowerCase() === 'reply-to');
  const composed = new MailComposer({
    messageId: messageId(mail),
    from: { name: mail.from.name ?? '', address: mail.from.email },
    to: { name: mail.to.name ?? '', address: mail.to.email },
    ...(mail.replyTo && !repliesElsewhere && { replyTo: mail.replyTo }),
    subject: mail.subject,
    html: mail.html,
    ...(mail.text && { text: mail.text }),
    headers,
    attachments: attachments.map(({ filename, contentType, contentId, disposition, content }) => ({
      filename,
      contentType,
      ...(contentId && { cid: contentId }),
      contentDisposition: disposition,
      content,
    })),
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  const envelope = composed.getEnvelope();
  const [from, to] = [mail.envelopeFrom ?? (envelope.from || ''), envelope.to[0] ?? ''];
  for (const address of [from, to])
    if (!/^[^\s<>]+@[^\s<>]+$/.test(address)) throw new Error(`Invalid address ${JSON.stringify(address)}`);
  return { from, to, utf8: !isPrintable(from + to), raw: withWholeLines(await composed.build()) };
}
