import { domainToASCII } from 'node:url';
import { type DkimKey, signWithDkim } from './dkim.ts';
import { EncodedLineCache, MimeBuffer } from './encoding.ts';
import { addressHeader, isPrintable, simpleAddress, structuredHeader, textHeader, toSingleLine } from './headers.ts';
import { type PrecompiledBody, PrecompiledPart, TextPart, writeBody } from './parts.ts';
import { isSmtpData, type SmtpMessage, withCrlfLines } from './smtp-message.ts';

export type { PrecompiledBody } from './parts.ts';

export interface MailAddress {
  email: string;
  name?: string | null;
}

export interface MailAttachment {
  filename: string;
  contentType: string;
  /** The body refers to it as `cid:<contentId>`. */
  contentId?: string | null;
  disposition: 'attachment' | 'inline';
  content: Buffer;
}

/** The header fields that all mails of a campaign share. */
export interface SharedMailHead {
  from: MailAddress;
  replyTo?: string | null;
  /** Replace ours of the same name. Callers validate the names. */
  headers?: Record<string, string>;
  /** Without a key the mail is not signed. */
  dkim?: DkimKey | undefined;
}

/** The header fields of one mail. */
export interface MailHead {
  /** Forms the Message-ID together with the sender's domain, so that a retried mail keeps its Message-ID. */
  id: string;
  to: MailAddress;
  subject: string;
  /** Added to the shared ones, e.g. List-Unsubscribe. */
  headers?: Record<string, string>;
  /** The return path in ASCII; the sender's address by default. */
  envelopeFrom?: string | undefined;
}

export interface MailMessage extends MailHead {
  html: string;
  text?: string;
  /** Encoded lines, shared by mails of the same template. */
  known?: EncodedLineCache | undefined;
}

export interface OutgoingMail extends SharedMailHead, MailMessage {
  attachments?: MailAttachment[];
}

export const messageId = ({ id, from }: Pick<OutgoingMail, 'id' | 'from'>): string => `<${id}@${messageDomain(from)}>`;

/** Returns the domain of a sender's Message-IDs. */
export function messageDomain({ email }: Pick<MailAddress, 'email'>): string {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  return domainToASCII(domain) || domain;
}

/** Throws for a mail that has no valid MIME form. */
export function composeMail(mail: OutgoingMail): Promise<SmtpMessage> {
  const { headers: _, ...content } = mail;
  return new MailSkeleton(mail).compose(content);
}

/**
 * Composes the mails of a campaign. The shared header fields are encoded once, by the constructor. `compose` and
 * `composePrecompiled` sign; `fill` and `fillPrecompiled` do not.
 */
export class MailSkeleton {
  private readonly shared: SharedMailHead;
  private readonly sender: string | undefined;
  private readonly sharedHead: string | undefined;
  private readonly idDomain: string;
  /** The last encoded subject; mostly all mails have the same one. */
  private subject = { text: '', header: textHeader('Subject', '') };
  private known: EncodedLineCache | undefined;
  private filledCount = 0;

  constructor(shared: SharedMailHead) {
    this.shared = shared;
    this.sender = simpleAddress(shared.from.email);
    this.sharedHead = this.sender && encodeSharedHead(this.sender, shared);
    this.idDomain = messageDomain(shared.from);
  }

  /** Throws for a mail that has no valid MIME form. */
  async compose(mail: MailMessage & Pick<OutgoingMail, 'attachments'>): Promise<SmtpMessage> {
    const { dkim, headers } = this.shared;
    const complete = { ...this.shared, ...mail, headers: { ...headers, ...mail.headers } };
    const composed = (!mail.attachments?.length && this.fill(mail)) || (await composeWithNodemailer(complete));
    return dkim ? { ...composed, raw: await signWithDkim(composed.raw, dkim) } : composed;
  }

  /** Composes a mail with a precompiled body. Returns undefined for a mail that only `compose` can handle. */
  composePrecompiled<T>(
    mail: MailHead,
    body: PrecompiledBody<T>,
    values: T,
  ): SmtpMessage | Promise<SmtpMessage> | undefined {
    const { dkim } = this.shared;
    const composed = this.fillPrecompiled(mail, body, values);
    return composed && dkim ? signWithDkim(composed.raw, dkim).then((raw) => ({ ...composed, raw })) : composed;
  }

  /** Returns undefined for a mail with unusual addresses or headers, which nodemailer has to compose. */
  fill(mail: MailMessage): SmtpMessage | undefined {
    const envelope = this.writeHead(mail);
    if (!envelope) return undefined;
    // A single mail needs no cache of encoded lines.
    if (this.filledCount++ > 0) this.known ??= new EncodedLineCache();
    const { id, html, text, known = this.known } = mail;
    writeBody(buffer, id, new TextPart(html, known), text ? new TextPart(text, known) : undefined);
    return { ...envelope, utf8: false, raw: buffer.take() };
  }

  fillPrecompiled<T>(mail: MailHead, { html, text }: PrecompiledBody<T>, values: T): SmtpMessage | undefined {
    const envelope = this.writeHead(mail);
    if (!envelope) return undefined;
    const isChecked = html.isSmtpData && text?.isSmtpData !== false && isSmtpData(buffer.text());
    writeBody(buffer, mail.id, new PrecompiledPart(html, values), text && new PrecompiledPart(text, values));
    return { ...envelope, utf8: false, raw: buffer.take(), ...(isChecked && { isSmtpData: true }) };
  }

  /** Writes the header fields to the buffer. */
  private writeHead({
    id,
    to,
    subject,
    headers = {},
    envelopeFrom,
  }: MailHead): Pick<SmtpMessage, 'from' | 'to'> | undefined {
    const recipient = simpleAddress(to.email);
    const ownHeaders = encodeHeaders(Object.entries(headers));
    if (
      this.sender === undefined ||
      this.sharedHead === undefined ||
      recipient === undefined ||
      ownHeaders === undefined
    )
      return undefined;
    if (subject !== this.subject.text) this.subject = { text: subject, header: textHeader('Subject', subject) };
    buffer.length = 0;
    buffer.ascii(
      `${this.sharedHead}${addressHeader('To', recipient, to.name)}${this.subject.header}` +
        `Message-ID: <${id}@${this.idDomain}>\r\nDate: ${dateNow()}\r\n${ownHeaders}`,
    );
    return { from: envelopeFrom ?? this.sender, to: recipient };
  }
}

const buffer = new MimeBuffer();

/** Returns undefined for headers that nodemailer has to encode. */
function encodeSharedHead(sender: string, { from, replyTo, headers = {} }: SharedMailHead): string | undefined {
  const entries = Object.entries(headers);
  const encoded = encodeHeaders(entries);
  const hasReplyTo = entries.some(([name]) => name.toLowerCase() === 'reply-to');
  const reply = replyTo && !hasReplyTo ? simpleAddress(replyTo) : '';
  if (encoded === undefined || reply === undefined) return undefined;
  return `${addressHeader('From', sender, from.name)}${reply && `Reply-To: ${reply}\r\n`}${encoded}MIME-Version: 1.0\r\n`;
}

const HEADER_NAME = /^[\x21-\x39\x3b-\x7e]{1,70}$/;
/** Header fields with structured values, which must not be encoded as text (RFC 2047, 5). */
const STRUCTURED = /^(?:list-|resent-|in-reply-to$|references$|reply-to$|auto-submitted$|precedence$|.*-id$|.*-to$)/i;

/** Returns undefined for headers that nodemailer has to encode. */
function encodeHeaders(entries: [string, string][]): string | undefined {
  let lines = '';
  for (const [name, rawValue] of entries) {
    const value = toSingleLine(rawValue);
    if (!HEADER_NAME.test(name) || value === '') return undefined;
    if (!STRUCTURED.test(name)) lines += textHeader(name, value);
    else if (isPrintable(value) && value.length < 900) lines += structuredHeader(name, value);
    else return undefined;
  }
  return lines;
}

let dateSecond = 0;
let date = '';

/** Formats the current time (RFC 5322, 3.3), once per second. */
function dateNow(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== dateSecond) {
    dateSecond = now;
    date = new Date(now * 1000).toUTCString().replace('GMT', '+0000');
  }
  return date;
}

/** File and URL access are off: content of a mail must not make nodemailer read or fetch anything. */
async function composeWithNodemailer(mail: OutgoingMail): Promise<SmtpMessage> {
  const { headers = {}, attachments = [] } = mail;
  const hasReplyTo = Object.keys(headers).some((name) => name.toLowerCase() === 'reply-to');
  // Loaded with the first such mail: most are composed without it.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const composed = new MailComposer({
    messageId: messageId(mail),
    from: { name: mail.from.name ?? '', address: mail.from.email },
    to: { name: mail.to.name ?? '', address: mail.to.email },
    ...(mail.replyTo && !hasReplyTo && { replyTo: mail.replyTo }),
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
  const from = mail.envelopeFrom ?? (envelope.from || '');
  const to = envelope.to[0] ?? '';
  for (const address of [from, to])
    if (!isEnvelopeAddress(address)) throw new Error(`Invalid address ${JSON.stringify(address)}`);
  return { from, to, utf8: !isPrintable(from + to), raw: withCrlfLines(await composed.build()) };
}

/** Two patterns, because one with an `@` between two parts that may contain it takes quadratic time. */
const isEnvelopeAddress = (address: string): boolean => /^[^\s<>\p{Cc}]{3,}$/u.test(address) && /.@./u.test(address);
