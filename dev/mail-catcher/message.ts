// Converts a caught mail to the JSON of Mailpit's API.
import PostalMime, { type Attachment, type Email } from 'postal-mime';
import { decodedHeader, type HeaderList, headersOf, headerValue, type Mailbox, mailboxesOf } from './headers.ts';
import type { MailRecord } from './segments.ts';
import { textOfHtml } from './text.ts';

export interface Summary {
  ID: string;
  MessageID: string;
  Read: boolean;
  From: Mailbox;
  To: Mailbox[];
  Cc: Mailbox[];
  Bcc: Mailbox[];
  ReplyTo: Mailbox[];
  Subject: string;
  Created: string;
  Tags: string[];
  Size: number;
}

/** What a list shows of a mail besides its headers; reads the body. */
export interface Preview {
  Attachments: number;
  Snippet: string;
  text: string;
}

export interface MessagePart {
  PartID: string;
  FileName: string;
  ContentType: string;
  ContentID: string;
  Size: number;
}

export interface Message extends Omit<Summary, 'Read' | 'Created'> {
  ReturnPath: string;
  Date: string;
  Text: string;
  HTML: string;
  Inline: MessagePart[];
  Attachments: MessagePart[];
}

const SNIPPET_LENGTH = 250;

export function summarize(record: MailRecord, raw: Buffer): Summary {
  const headers = headersOf(raw);
  const To = mailboxesOf(headers, 'to');
  const Cc = mailboxesOf(headers, 'cc');
  return {
    ID: record.id,
    MessageID: (headerValue(headers, 'message-id') ?? '').replace(/^<|>$/g, ''),
    Read: false,
    From: mailboxesOf(headers, 'from')[0] ?? { Name: '', Address: record.from },
    To,
    Cc,
    Bcc: hiddenRecipients(record, headers, [...To, ...Cc]),
    ReplyTo: mailboxesOf(headers, 'reply-to'),
    Subject: decodedHeader(headers, 'subject'),
    Created: record.created,
    Tags: [],
    Size: record.size,
  };
}

/** Returns the recipients that the envelope names and the headers do not: blind copies. */
function hiddenRecipients(record: MailRecord, headers: HeaderList, visible: Mailbox[]): Mailbox[] {
  const known = new Set(visible.map(({ Address }) => Address.toLowerCase()));
  const named = mailboxesOf(headers, 'bcc');
  for (const { Address } of named) known.add(Address.toLowerCase());
  const others = record.to.filter((address) => !known.has(address.toLowerCase()));
  return [...named, ...others.map((Address) => ({ Name: '', Address }))];
}

export const parseMail = (raw: Buffer): Promise<Email> => PostalMime.parse(raw);

export async function previewOf(raw: Buffer): Promise<Preview> {
  const email = await parseMail(raw).catch(() => undefined);
  const text = (email?.text ?? textOfHtml(email?.html ?? '')).replace(/\s+/g, ' ').trim();
  const attachments = email?.attachments.filter((part) => !isInline(part)) ?? [];
  const ellipsis = text.length > SNIPPET_LENGTH ? '...' : '';
  return {
    Attachments: attachments.length,
    Snippet: text.slice(0, SNIPPET_LENGTH) + ellipsis,
    text: text.toLowerCase(),
  };
}

export async function describeMail(record: MailRecord, raw: Buffer): Promise<Message> {
  const { Read: _, Created: created, ...summary } = summarize(record, raw);
  const email = await parseMail(raw);
  const parts = email.attachments.map(describePart);
  const inline = new Set(email.attachments.flatMap((part, index) => (isInline(part) ? [index] : [])));
  return {
    ...summary,
    ReturnPath: record.from,
    Date: email.date ?? created,
    Text: email.text ?? textOfHtml(email.html ?? ''),
    HTML: email.html ?? '',
    Inline: parts.filter((_part, index) => inline.has(index)),
    Attachments: parts.filter((_part, index) => !inline.has(index)),
  };
}

const isInline = ({ related, disposition, contentId }: Attachment): boolean =>
  related === true || (disposition === 'inline' && contentId !== undefined);

export const attachmentContent = ({ content }: Attachment): Buffer =>
  typeof content === 'string' ? Buffer.from(content) : Buffer.from(content as Uint8Array);

const describePart = (part: Attachment, index: number): MessagePart => ({
  PartID: String(index + 1),
  FileName: part.filename ?? '',
  ContentType: part.mimeType,
  ContentID: (part.contentId ?? '').replace(/^<|>$/g, ''),
  Size: attachmentContent(part).length,
});
