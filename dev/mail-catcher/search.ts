// The part of Mailpit's search language that scripts use: words, "quoted words", field:value, and a minus for "not".
import type { Mailbox } from './headers.ts';
import type { Preview, Summary } from './message.ts';

export interface Term {
  field: string;
  value: string;
  negated: boolean;
}

const TOKEN = /([-!]?)(?:([a-z-]+):)?(?:"((?:[^"\\]|\\.)*)"|(\S+))/gi;

export function parseQuery(query: string): Term[] {
  return [...query.matchAll(TOKEN)].map(([, sign, field = '', quoted, bare = '']) => ({
    field: field.toLowerCase(),
    value: (quoted?.replace(/\\(.)/g, '$1') ?? bare).toLowerCase(),
    negated: sign !== '',
  }));
}

const textOfMailboxes = (boxes: Mailbox[]): string =>
  boxes
    .map(({ Name, Address }) => `${Name} <${Address}>`)
    .join(' ')
    .toLowerCase();

const FIELDS: Record<string, (mail: Summary) => string> = {
  to: ({ To }) => textOfMailboxes(To),
  cc: ({ Cc }) => textOfMailboxes(Cc),
  bcc: ({ Bcc }) => textOfMailboxes(Bcc),
  from: ({ From }) => textOfMailboxes([From]),
  'reply-to': ({ ReplyTo }) => textOfMailboxes(ReplyTo),
  addressed: ({ From, To, Cc, Bcc, ReplyTo }) => textOfMailboxes([From, ...To, ...Cc, ...Bcc, ...ReplyTo]),
  subject: ({ Subject }) => Subject.toLowerCase(),
  'message-id': ({ MessageID }) => MessageID.toLowerCase(),
};

/** `preview` reads the body; it is called only when the headers do not decide. */
export async function matches(mail: Summary, terms: Term[], preview: () => Promise<Preview>): Promise<boolean> {
  for (const term of terms) {
    if ((await matchesTerm(mail, term, preview)) === term.negated) return false;
  }
  return true;
}

async function matchesTerm(mail: Summary, { field, value }: Term, preview: () => Promise<Preview>): Promise<boolean> {
  const read = FIELDS[field];
  if (read) return read(mail).includes(value);
  if (field === 'has' && /^attachments?$/.test(value)) return (await preview()).Attachments > 0;
  if (field === 'is' && value === 'unread') return !mail.Read;
  if (field === 'is' && value === 'read') return mail.Read;
  // A colon after an unknown field (a URL, a time) is part of the text.
  const text = field ? `${field}:${value}` : value;
  const head = `${mail.Subject.toLowerCase()} ${FIELDS.addressed?.(mail)} ${mail.MessageID.toLowerCase()}`;
  return head.includes(text) || (await preview()).text.includes(text);
}
