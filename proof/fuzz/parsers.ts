// Gives every parser mutated input. A parser may refuse it with an error of its own; it must not break, hang or take long.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { parseAddress, readMailbox } from '../../platform/address.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import { SealError, unseal } from '../../platform/crypto/seal.ts';
import { openToken, signToken } from '../../platform/crypto/signed-token.ts';
import { ApiError } from '../../platform/errors.ts';
import { clientNetwork } from '../../platform/http/client-network.ts';
import { retryAfterMs } from '../../platform/http/retry-after.ts';
import { readSnsMessage } from '../../platform/integrations/sns.ts';
import { composeMail } from '../../platform/mime/compose.ts';
import { linksIn } from '../../platform/mime/html-links.ts';
import { NulByteError } from '../../platform/mime/smtp-message.ts';
import { parseDomainRates } from '../../platform/smtp/domain-rates.ts';
import { parseRelays, RelaySettingsError } from '../../platform/smtp/relay-settings.ts';
import { LimitError } from '../../platform/templates/language/budget.ts';
import { checkTemplate } from '../../platform/templates/language/template.ts';
import { renderMail } from '../../platform/templates/mail.ts';
import { plainText } from '../../platform/templates/plain-text.ts';
import { parseMoment } from '../../services/conditions/instants.ts';
import { parseCondition } from '../../services/conditions/parse.ts';
import { readDomainName } from '../../services/domains/name.ts';
import { classifyUserAgent } from '../../services/emails/machines.ts';
import { openReturnPath } from '../../services/emails/return-token.ts';
import { openCsv } from '../../services/jobs/csv.ts';
import { readReturnedMail } from '../../services/notices/returned-mail.ts';
import { readSesNotices } from '../../services/notices/ses.ts';
import { bounceReport, complaintReport } from '../../test/support/reports.ts';
import { seededRandom } from '../random.ts';
import type { ProofRow } from '../report.ts';
import { mutated, mutatedJson } from './mutate.ts';

interface FuzzedParser {
  /** Valid inputs, which are mutated. */
  samples: string[];
  parse(input: string): unknown;
  /** How long one input may take; the whole API waits meanwhile. Composing and templates run in processes of their own. */
  maxMs?: number;
}

const keys = ['a secret key of the fuzzer'] as const;
const to = 'b-0-0@bounce.example';
const condition = {
  logic: 'AND',
  groups: [
    { filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }], conditions: { logic: 'OR', groups: [] } },
  ],
};
const mail = { from: { email: 'a@example.com' }, to: { email: 'b@example.com' }, html: '<p>x</p>', text: 'x' };
const html =
  '<html><body><h1>Hi {{ name }}</h1>{% if a %}<a href="https://example.com/?x=1&y=2">go</a>{% else %}no{% endif %}' +
  '{% for item in items %}<li>{{ item.name | upper | default("none") }}</li>{% endfor %}</body></html>';

const parsers: Record<string, FuzzedParser> = {
  address: {
    samples: ['ann@example.com', 'Ann Lee <ann@example.com>', '"a, b" <x.y+z@zürich.example>'],
    parse: (text) => [parseAddress(text), readMailbox(text)],
  },
  'domain name': { samples: ['mail.example.com', 'zürich.example', 'xn--zrich-kva.example'], parse: readDomainName },
  'mail text': {
    samples: ['Order 1', 'Grüße 🎉', 'a'.repeat(998)],
    parse: (subject) => composeMail({ id: '01', ...mail, subject, headers: { 'X-Note': subject } }),
    maxMs: 2_000,
  },
  template: {
    samples: [html, 'Hello {{ name ?? "you" }}', '{% set a = [1, 2] %}{{ a | join(",") }}'],
    parse: (source) => {
      if (checkTemplate(source).length > 0) return;
      renderMail({ subject: 'x', html: source }, '', { name: 'Ann', items: [{ name: 'x' }] });
    },
    maxMs: 5_000,
  },
  'links in HTML': { samples: [html], parse: (text) => linksIn(text), maxMs: 2_000 },
  'HTML as text': { samples: [html], parse: plainText, maxMs: 5_000 },
  CSV: {
    samples: ['email,name\nann@example.com,"Ann, Lee"\n', 'email;plan\r\nb@example.com;"a ""b"""\r\n'],
    parse: async (text) => {
      const file = await openCsv(Buffer.from(text));
      for await (const rows of file.rows()) if (rows.length > 1e6) throw new Error('too many rows');
    },
    maxMs: 2_000,
  },
  'condition filter': {
    samples: [JSON.stringify(condition)],
    parse: (text) => parseCondition(jsonOf(text) ?? mutatedJson(condition, seededRandom(text.length, text))),
  },
  'moment of a condition': { samples: ['2026-11-16T06:00:00Z', '2026-11-16'], parse: parseMoment },
  'delivery status notification': {
    samples: [bounceReport({ to }), complaintReport({ to })],
    parse: (text) => readReturnedMail(keys, to, Buffer.from(text)),
    maxMs: 2_000,
  },
  'SES notification': {
    samples: [
      '{"eventType":"Bounce","mail":{"messageId":"x","headers":[{"name":"X-Everpost-Id","value":"y"}]},"bounce":{"bounceType":"Permanent","bouncedRecipients":[{"diagnosticCode":"550"}]}}',
    ],
    parse: (text) => readSesNotices(keys, text),
  },
  'SNS message': {
    samples: ['{"Type":"Notification","MessageId":"x","TopicArn":"arn:aws:sns:a:1:b","Message":"{}"}'],
    parse: (text) => readSnsMessage(jsonOf(text)),
  },
  cursor: {
    samples: [signCursor(keys, ['list'], { id: 1 })],
    parse: (text) => openCursor(keys, ['list'], text),
  },
  'signed link': { samples: [signToken(keys, 'link', 'content')], parse: (text) => openToken(keys, 'link', text) },
  'sealed secret': { samples: ['v1.abcd.AAAA.BBBB'], parse: (text) => unseal(keys, ['x'], text) },
  'return path': { samples: [to], parse: (text) => openReturnPath(keys, text) },
  'Retry-After': {
    samples: ['120', 'Wed, 21 Oct 2026 07:28:00 GMT'],
    parse: (text) => retryAfterMs(text, new Date(0)),
  },
  'user agent': { samples: ['Mozilla/5.0 (Windows NT 5.1; rv:11.0) GoogleImageProxy'], parse: classifyUserAgent },
  'client address': { samples: ['127.0.0.1', '2001:db8::1', '::ffff:10.0.0.1'], parse: clientNetwork },
  SMTP_URL: { samples: ['smtp://u:p@a.example?weight=3, smtps://b.example:465'], parse: parseRelays },
  DOMAIN_RATES: { samples: ['gmail.com=10, outlook.com=5'], parse: parseDomainRates },
};

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Errors by which a parser refuses. A plain Error counts for settings, which only operators write. */
const isRefusal = (error: unknown, name: string): boolean =>
  [ApiError, SealError, RelaySettingsError, LimitError, NulByteError].some((kind) => error instanceof kind) ||
  (name === name.toUpperCase() && error instanceof Error && error.constructor === Error);

const USUAL_MAX_MS = 500;
const LEAST_INPUTS = 200;

export async function fuzzParsers(seed: number, lengthMs: number): Promise<ProofRow[]> {
  const rows: ProofRow[] = [];
  const share = lengthMs / Object.keys(parsers).length;
  for (const [name, parser] of Object.entries(parsers)) rows.push(await fuzz(name, parser, seed, share));
  return rows;
}

async function fuzz(
  name: string,
  { samples, parse, maxMs = USUAL_MAX_MS }: FuzzedParser,
  seed: number,
  lengthMs: number,
) {
  const random = seededRandom(seed, `parser ${name}`);
  const violations: string[] = [];
  const heapBefore = process.memoryUsage().heapUsed;
  let inputs = 0;
  let slowest = 0;
  const end = performance.now() + lengthMs;
  while ((performance.now() < end || inputs < LEAST_INPUTS) && violations.length < 20) {
    const input = mutated(random.pick(samples), random, 12);
    const began = performance.now();
    try {
      await parse(input);
    } catch (error) {
      if (!isRefusal(error, name))
        violations.push(`${String(error).slice(0, 200)} for ${JSON.stringify(input).slice(0, 300)}`);
    }
    const ms = performance.now() - began;
    slowest = Math.max(slowest, ms);
    if (ms > maxMs)
      violations.push(`${Math.round(ms)} ms for ${input.length} characters: ${JSON.stringify(input).slice(0, 300)}`);
    if (++inputs % 50 === 0) await yieldToEventLoop();
  }
  const grown = Math.round((process.memoryUsage().heapUsed - heapBefore) / 1024 / 1024);
  if (grown > 512) violations.push(`${grown} MB of memory were kept`);
  return {
    part: 'fuzz',
    what: `parser: ${name}`,
    checked: `${inputs} inputs`,
    violations,
    note: `slowest ${Math.round(slowest)} ms`,
  };
}
