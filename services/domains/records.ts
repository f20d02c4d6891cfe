import type { RecordCheck } from '../../db/models/domain.ts';
import type { DomainKey } from '../../db/models/domain-key.ts';
import type { DnsAnswer, MailExchange } from '../../platform/http/resolver.ts';
import type { MailFromSettings } from '../../platform/settings.ts';

export const recordPurposes = ['DKIM', 'SPF', 'BOUNCE', 'DMARC'] as const;

/** A record that the owner of a domain is asked to publish. */
export interface WantedRecord {
  purpose: (typeof recordPurposes)[number];
  type: 'TXT' | 'MX';
  name: string;
  value: string;
  priority?: number;
  required: boolean;
}

export type DomainRecord = WantedRecord & RecordCheck;

const MX_PRIORITY = 10;
const FOUND_LENGTH = 1_000;

type PublishedKey = Pick<DomainKey, 'selector' | 'publicKey' | 'signs'>;

export function wantedRecords(domain: string, keys: PublishedKey[], mailFrom: MailFromSettings): WantedRecord[] {
  const bounce = mailFrom.subdomain && `${mailFrom.subdomain}.${domain}`;
  return [
    ...keys.map(({ selector, publicKey, signs }): WantedRecord => {
      const value = `v=DKIM1; k=rsa; p=${publicKey}`;
      return { purpose: 'DKIM', type: 'TXT', name: `${selector}._domainkey.${domain}`, value, required: signs };
    }),
    ...(bounce && mailFrom.spf
      ? [{ purpose: 'SPF', type: 'TXT', name: bounce, value: mailFrom.spf, required: true } as const]
      : []),
    ...(bounce && mailFrom.mx
      ? [
          {
            purpose: 'BOUNCE',
            type: 'MX',
            name: bounce,
            value: mailFrom.mx,
            priority: MX_PRIORITY,
            required: true,
          } as const,
        ]
      : []),
    { purpose: 'DMARC', type: 'TXT', name: `_dmarc.${domain}`, value: 'v=DMARC1; p=none', required: false },
  ];
}

/** The key under which a record's check is stored; it stays the same while the record does. */
export const checkKey = ({ type, name }: Pick<WantedRecord, 'type' | 'name'>): string => `${type} ${name}`;

const neverChecked: RecordCheck = { status: 'MISSING', found: null };

export const withChecks = (wanted: WantedRecord[], checks: Record<string, RecordCheck>): DomainRecord[] =>
  wanted.map((record) => ({ ...record, ...(checks[checkKey(record)] ?? neverChecked) }));

/** Evaluates a DNS answer. A failed lookup changes only the error. */
export function evaluateRecord(
  wanted: WantedRecord,
  answer: DnsAnswer<string> | DnsAnswer<MailExchange>,
  before: RecordCheck = neverChecked,
): RecordCheck {
  if (answer.kind === 'unknown') return { ...before, error: `could not be looked up: ${answer.reason}` };
  if (answer.kind === 'absent') return { status: 'MISSING', found: null };
  const result =
    wanted.type === 'MX'
      ? evaluateExchanges(wanted.value, answer.values as MailExchange[])
      : evaluateTexts(wanted, answer.values as string[]);
  return { ...result, found: result.found?.slice(0, FOUND_LENGTH) ?? null };
}

function evaluateTexts(wanted: WantedRecord, texts: string[]): RecordCheck {
  const { isOfKind, matches } = readers[wanted.purpose];
  // Duplicates count once; of two that differ it is undefined which one applies.
  const candidates = [...new Set(texts.filter(isOfKind).map(normalized))];
  if (candidates.length === 0)
    return wanted.purpose === 'DKIM' && texts.length > 0
      ? { status: 'MISMATCH', found: texts.join('\n') }
      : { status: 'MISSING', found: null };
  const [only] = candidates;
  const found = candidates.join('\n');
  return { status: candidates.length === 1 && only && matches(only, wanted.value) ? 'FOUND' : 'MISMATCH', found };
}

const normalized = (text: string): string => text.trim().replace(/\s+/g, ' ');

interface RecordReader {
  /** Whether a text is a record of this kind: others may share the name. */
  isOfKind(text: string): boolean;
  matches(found: string, wanted: string): boolean;
}

const readers: Record<WantedRecord['purpose'], RecordReader> = {
  DKIM: { isOfKind: (text) => tagsOf(text).has('p'), matches: isSameKey },
  SPF: { isOfKind: (text) => /^\s*v=spf1(\s|$)/i.test(text), matches: hasMechanisms },
  DMARC: {
    isOfKind: (text) => /^\s*v\s*=\s*dmarc1\s*(;|$)/i.test(text),
    // Any policy of the domain's owner is accepted.
    matches: (found) => ['none', 'quarantine', 'reject'].includes(tagsOf(found).get('p')?.toLowerCase() ?? ''),
  },
  BOUNCE: { isOfKind: () => true, matches: () => false },
};

/** Parses the tag list of RFC 6376, 3.2: `name=value; …`, with optional whitespace. */
function tagsOf(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of text.split(';')) {
    const equals = part.indexOf('=');
    if (equals > 0) tags.set(part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim());
  }
  return tags;
}

/** Ignores what verifiers ignore: order and case of the tags, and whitespace inside the key. */
function isSameKey(found: string, wanted: string): boolean {
  const theirs = tagsOf(found);
  const ours = tagsOf(wanted);
  const listed = (tag: string, fallback: string) =>
    withoutSpace(theirs.get(tag) ?? fallback)
      .toLowerCase()
      .split(':');
  return (
    (theirs.get('v') ?? 'DKIM1').toUpperCase() === 'DKIM1' &&
    (theirs.get('k') ?? 'rsa').toLowerCase() === 'rsa' &&
    listed('h', 'sha256').includes('sha256') &&
    listed('s', '*').some((service) => service === '*' || service === 'email') &&
    withoutSpace(theirs.get('p')) === withoutSpace(ours.get('p'))
  );
}

const withoutSpace = (text = '') => text.replace(/\s+/g, '');

/** Ignores additional mechanisms: the owner may authorize other senders. */
function hasMechanisms(found: string, wanted: string): boolean {
  const theirs = termsOf(found);
  return termsOf(wanted)
    .filter((term) => !/^[-~?+]?all$/.test(term))
    .every((term) => theirs.includes(term));
}

const termsOf = (record: string): string[] => record.toLowerCase().trim().split(/\s+/);

/** The preferred exchange must be ours; further ones with lower preference are allowed. */
function evaluateExchanges(wanted: string, exchanges: MailExchange[]): RecordCheck {
  const best = Math.min(...exchanges.map(({ priority }) => priority));
  const first = exchanges.filter(({ priority }) => priority === best).map(({ exchange }) => hostOf(exchange));
  const found = exchanges.map(({ priority, exchange }) => `${priority} ${exchange}`).join('\n');
  return { status: first.length > 0 && first.every((host) => host === hostOf(wanted)) ? 'FOUND' : 'MISMATCH', found };
}

const hostOf = (name: string): string => name.toLowerCase().replace(/\.$/, '');

export type CheckOutcome = 'passed' | 'failed' | 'unknown';

/** Combines the required records of a check; failed lookups count as unknown. */
export function checkOutcomeOf(records: DomainRecord[]): CheckOutcome {
  const required = records.filter((record) => record.required);
  if (required.some(({ status, error }) => !error && status !== 'FOUND')) return 'failed';
  return required.some(({ error }) => error) ? 'unknown' : 'passed';
}
