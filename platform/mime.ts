import { domainToASCII } from 'node:url';
import MailComposer from 'nodemailer/lib/mail-composer';
import { type DkimKey, withSignature } from './dkim.ts';
import { KnownLines, Scratch } from './mime-body.ts';
import { addressHeader, isPrintable, onOneLine, simpleAddress, structuredHeader, textHeader } from './mime-head.ts';
import { FilledPart, type MailForm, TextPart, writeBody } from './mime-parts.ts';
import type { WireMail } from './smtp-session.ts';
import { withCrlfLines } from './wire-lines.ts';

export type { MailForm } from './mime-parts.ts';

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

/** What is each mail's own, but for its body. */
export interface MailHead {
  /** Makes the Message-ID, together with the sender's domain: the same mail always has the same one. */
  id: string;
  to: MailAddress;
  subject: string;
  /** Beside those of the frame, e.g. List-Unsubscribe. */
  headers?: Record<string, string>;
  /** Where it is returned to when it cannot be delivered; otherwise to its sender. Plain ASCII. */
  envelopeFrom?: string | undefined;
}

export interface MailFilling extends MailHead {
  html: string;
  text?: string;
  /** Shared by mails that were made from the same text. */
  known?: KnownLines | undefined;
}

export interface OutgoingMail extends MailFrame, MailFilling {
  attachments?: MailAttachment[];
}

export const messageId = ({ id, from }: Pick<OutgoingMail, 'id' | 'from'>): string => `<${id}@${messageDomain(from)}>`;

/** What the Message-IDs of a sender end in. */
export function messageDomain({ email }: Pick<MailAddress, 'email'>): string {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  return domainToASCII(domain) || domain;
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
  private readonly idDomain: string;
  /** The last one that was written; mostly they all have the same. */
  private subject = { text: '', header: textHeader('Subject', '') };
  private known: KnownLines | undefined;
  private filled = 0;

  constructor(frame: MailFrame) {
    this.frame = frame;
    this.sender = simpleAddress(frame.from.email);
    this.head = this.sender && commonHead(this.sender, frame);
    this.idDomain = messageDomain(frame.from);
  }

  /** Throws for a mail that cannot be written as one. */
  async compose(mail: MailFilling & Pick<OutgoingMail, 'attachments'>): Promise<WireMail> {
    const { dkim, headers } = this.frame;
    const whole = { ...this.frame, ...mail, headers: { ...headers, ...mail.headers } };
    const composed = (!mail.attachments?.length && this.fill(mail)) || (await composeAnything(whole));
    return dkim ? { ...composed, raw: await withSignature(composed.raw, dkim) } : composed;
  }

  /** The same for a body that is a form. Undefined for a mail that needs more than a form: it must be composed. */
  composeForm<T>(mail: MailHead, form: MailForm<T>, filling: T): WireMail | Promise<WireMail> | undefined {
    const { dkim } = this.frame;
    const composed = this.fillForm(mail, form, filling);
    return composed && dkim ? withSignature(composed.raw, dkim).then((raw) => ({ ...composed, raw })) : composed;
  }

  /** Undefined for a mail that needs more than we know (odd addresses, headers of odd scripts): nodemailer's turn. */
  fill(mail: MailFilling): WireMail | undefined {
    const envelope = this.begin(mail);
    if (!envelope) return undefined;
    // Whoever sends a single mail need not remember it.
    if (this.filled++ > 0) this.known ??= new KnownLines();
    const { id, html, text, known = this.known } = mail;
    writeBody(out, id, new TextPart(html, known), text ? new TextPart(text, known) : undefined);
    return { ...envelope, utf8: false, raw: out.take() };
  }

  fillForm<T>(mail: MailHead, { html, text }: MailForm<T>, filling: T): WireMail | undefined {
    const envelope = this.begin(mail);
    if (!envelope) return undefined;
    writeBody(out, mail.id, new FilledPart(html, filling), text && new FilledPart(text, filling));
    return { ...envelope, utf8: false, raw: out.take() };
  }

  /** Writes the head. */
  private begin({ id, to, subject, headers = {}, envelopeFrom }: MailHead): Pick<WireMail, 'from' | 'to'> | undefined {
    const recipient = simpleAddress(to.email);
    const own = headersOf(Object.entries(headers));
    if (this.sender === undefined || this.head === undefined || recipient === undefined || own === undefined)
      return undefined;
    if (subject !== this.subject.text) this.subject = { text: subject, header: textHeader('Subject', subject) };
    out.length = 0;
    out.ascii(
      `${this.head}${addressHeader('To', recipient, to.name)}${this.subject.header}` +
        `Message-ID: <${id}@${this.idDomain}>\r\nDate: ${dateNow()}\r\n${own}`,
    );
    return { from: envelopeFrom ?? this.sender, to: recipient };
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
    if (!isEnvelopeAddress(address)) throw new Error(`Invalid address ${JSON.stringify(address)}`);
  return { from, to, utf8: !isPrintable(from + to), raw: withCrlfLines(await composed.build()) };
}

/** Two steps, because one pattern with an `@` between two parts that may hold one takes quadratic time. */
const isEnvelopeAddress = (address: string): boolean => /^[^\s<>\p{Cc}]{3,}$/u.test(address) && /.@./u.test(address);
