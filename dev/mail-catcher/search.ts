// The part of Mailpit's search language that scripts use: words, "quoted words", field:value, and a minus for "not".
import type { Mailbox } from './headers.ts';
import type { Glimpse, Summary } from './message.ts';

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

const shown = (boxes: Mailbox[]): string =>
  boxes
    .map(({ Name, Address }) => `${Name} <${Address}>`)
    .join(' ')
    .toLowerCase();

const FIELDS: Record<string, (mail: Summary) => string> = {
  to: ({ To }) => shown(To),
  cc: ({ Cc }) => shown(Cc),
  bcc: ({ Bcc }) => shown(Bcc),
  from: ({ From }) => shown([From]),
  'reply-to': ({ ReplyTo }) => shown(ReplyTo),
  addressed: ({ From, To, Cc, Bcc, ReplyTo }) => shown([From, ...To, ...Cc, ...Bcc, ...ReplyTo]),
  subject: ({ Subject }) => Subject.toLowerCase(),
  'message-id': ({ MessageID }) => MessageID.toLowerCase(),
};

/** `look` opens the mail; it is asked only where the head does not settle the matter. */
export async function matches(mail: Summary, terms: Term[], look: () => Promise<Glimpse>): Promise<boolean> {
  for (const term of terms) {
    if ((await matchesTerm(mail, term, look)) === term.negated) return false;
  }
  return true;
}

async function matchesTerm(mail: Summary, { field, value }: Term, look: () => Promise<Glimpse>): Promise<boolean> {
  const read = FIELDS[field];
  if (read) return read(mail).includes(value);
  if (field === 'has' && /^attachments?$/.test(value)) return (await look()).Attachments > 0;
  if (field === 'is' && value === 'unread') return !mail.Read;
  if (field === 'is' && value === 'read') return mail.Read;
  // A colon in an unknown place (a URL, a time) is part of the text that is looked for.
  const text = field ? `${field}:${value}` : value;
  const head = `${mail.Subject.toLowerCase()} ${FIELDS.addressed?.(mail)} ${mail.MessageID.toLowerCase()}`;
  return head.includes(text) || (await look()).text.includes(text);
}
