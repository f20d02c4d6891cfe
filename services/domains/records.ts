import type { RecordCheck } from '../../db/models/domain.ts';
import type { DomainKey } from '../../db/models/domain-key.ts';
import type { DnsAnswer, MailExchange } from '../../platform/resolver.ts';
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

/** What was seen of a record, under a name that stays the same while it is the same record. */
export const checkKey = ({ type, name }: Pick<WantedRecord, 'type' | 'name'>): string => `${type} ${name}`;

const neverLooked: RecordCheck = { status: 'MISSING', found: null };

export const withChecks = (wanted: WantedRecord[], checks: Record<string, RecordCheck>): DomainRecord[] =>
  wanted.map((record) => ({ ...record, ...(checks[checkKey(record)] ?? neverLooked) }));

/** What an answer says about a record. One that could not be had changes nothing but the error. */
export function judge(
  wanted: WantedRecord,
  answer: DnsAnswer<string> | DnsAnswer<MailExchange>,
  before: RecordCheck = neverLooked,
): RecordCheck {
  if (answer.kind === 'unknown') return { ...before, error: `could not be looked up: ${answer.reason}` };
  if (answer.kind === 'absent') return { status: 'MISSING', found: null };
  const verdict =
    wanted.type === 'MX'
      ? judgeExchanges(wanted.value, answer.values as MailExchange[])
      : judgeTexts(wanted, answer.values as string[]);
  return { ...verdict, found: verdict.found?.slice(0, FOUND_LENGTH) ?? null };
}

function judgeTexts(wanted: WantedRecord, texts: string[]): RecordCheck {
  const { isOne, fits } = readers[wanted.purpose];
  // The same text twice is published once; of two that differ, nobody can say which one counts.
  const meant = [...new Set(texts.filter(isOne).map(tidied))];
  if (meant.length === 0)
    return wanted.purpose === 'DKIM' && texts.length > 0
      ? { status: 'MISMATCH', found: texts.join('\n') }
      : { status: 'MISSING', found: null };
  const [only] = meant;
  const found = meant.join('\n');
  return { status: meant.length === 1 && only && fits(only, wanted.value) ? 'FOUND' : 'MISMATCH', found };
}

const tidied = (text: string): string => text.trim().replace(/\s+/g, ' ');

interface Reader {
  /** Whether a text is a record of this kind at all: others may stand beside it. */
  isOne(text: string): boolean;
  fits(found: string, wanted: string): boolean;
}

const readers: Record<WantedRecord['purpose'], Reader> = {
  DKIM: { isOne: (text) => tagsOf(text).has('p'), fits: isSameKey },
  SPF: { isOne: (text) => /^\s*v=spf1(\s|$)/i.test(text), fits: hasMechanisms },
  DMARC: {
    isOne: (text) => /^\s*v\s*=\s*dmarc1\s*(;|$)/i.test(text),
    // Any policy of one's own is better than ours.
    fits: (found) => ['none', 'quarantine', 'reject'].includes(tagsOf(found).get('p')?.toLowerCase() ?? ''),
  },
  BOUNCE: { isOne: () => true, fits: () => false },
};

/** The tag list of RFC 6376: `name=value; …`, with space wherever one likes. */
function tagsOf(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of text.split(';')) {
    const equals = part.indexOf('=');
    if (equals > 0) tags.set(part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim());
  }
  return tags;
}

/** Order and case of the tags, and space inside the key, make no difference to whoever verifies a signature. */
function isSameKey(found: string, wanted: string): boolean {
  const [theirs, ours] = [tagsOf(found), tagsOf(wanted)];
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

/** Whoever else may send in the name of the subdomain is for its owner to say. */
function hasMechanisms(found: string, wanted: string): boolean {
  const [theirs, ours] = [found, wanted].map((text) => text.toLowerCase().trim().split(/\s+/));
  return (ours ?? []).filter((term) => !/^[-~?+]?all$/.test(term)).every((term) => theirs?.includes(term));
}

/** Where bounces go first must be us; further exchanges behind that do no harm. */
function judgeExchanges(wanted: string, exchanges: MailExchange[]): RecordCheck {
  const best = Math.min(...exchanges.map(({ priority }) => priority));
  const first = exchanges.filter(({ priority }) => priority === best).map(({ exchange }) => hostOf(exchange));
  const found = exchanges.map(({ priority, exchange }) => `${priority} ${exchange}`).join('\n');
  return { status: first.length > 0 && first.every((host) => host === hostOf(wanted)) ? 'FOUND' : 'MISMATCH', found };
}

const hostOf = (name: string): string => name.toLowerCase().replace(/\.$/, '');

export type Verdict = 'passed' | 'failed' | 'unknown';

/** Of a check as a whole: what is there or not counts, and what could not be asked counts for nothing. */
export function verdictOf(records: DomainRecord[]): Verdict {
  const required = records.filter((record) => record.required);
  if (required.some(({ status, error }) => !error && status !== 'FOUND')) return 'failed';
  return required.some(({ error }) => error) ? 'unknown' : 'passed';
}
