import joi from 'joi';
import type { Typed } from './typed.ts';
import { documented, refuse } from './violations.ts';

const MAX_HEADERS = 100;
const MAX_NAME = 255;
/** RFC 5322, 2.1.1: the longest line. */
const MAX_VALUE = 998;
/** RFC 5322, 2.2: printable ASCII except the colon. */
const NAME = /^[!-9;-~]+$/;
/** Line breaks would inject headers; other control characters are not allowed either, except tabs. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

const RESERVED = new Set([
  'from',
  'sender',
  'to',
  'cc',
  'bcc',
  'subject',
  'date',
  'message-id',
  'return-path',
  'received',
  'mime-version',
  'dkim-signature',
  'authentication-results',
]);
const RESERVED_PREFIXES = ['content-', 'arc-', 'x-everpost-'];

/**
 * Headers that control the relay: they can set the envelope, templates, tracking or the IP pool of another account of
 * the operator. Most relays remove them, so recipients would not see them anyway.
 */
const RELAY_CONTROL = new Set(['x-smtpapi', 'x-virtual-mta', 'x-job']);
const RELAY_CONTROL_PREFIXES = [
  'x-ses-',
  'x-mc-',
  'x-mailgun-',
  'x-msys-',
  'x-pm-',
  'x-mj-',
  'x-mailin-',
  'x-sparkpost-',
];

const isOneOf = (lower: string, names: Set<string>, prefixes: string[]): boolean =>
  names.has(lower) || prefixes.some((prefix) => lower.startsWith(prefix));

function nameViolation(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (!NAME.test(name) || name.length > MAX_NAME) return 'is not a valid header name';
  if (isOneOf(lower, RESERVED, RESERVED_PREFIXES)) return 'is a header that cannot be set';
  if (isOneOf(lower, RELAY_CONTROL, RELAY_CONTROL_PREFIXES)) return 'is a header that controls the mail relay';
  return undefined;
}

const value = documented(
  joi
    .string()
    .min(0)
    .max(MAX_VALUE)
    .custom((text: string, helpers) => {
      const name = String(helpers.state.path?.at(-1));
      const violation = nameViolation(name);
      if (violation) return refuse(helpers, 'custom', violation);
      return CONTROL.test(text.replaceAll('\t', ' '))
        ? refuse(helpers, 'invalid_string', 'must not contain line breaks or control characters')
        : text;
    }),
  { pattern: '^[^\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$' },
);

/** Headers of a mail by name. */
export const mailHeaders = (): Typed<Record<string, string>> =>
  documented(
    joi
      .object()
      .pattern(/^/, value)
      .max(MAX_HEADERS)
      .custom((headers: Record<string, string>, helpers) => {
        const names = Object.keys(headers).map((name) => name.toLowerCase());
        return new Set(names).size < names.length ? refuse(helpers, 'custom', 'has a header twice') : headers;
      })
      .required(),
    { propertyNames: { pattern: NAME.source, maxLength: MAX_NAME } },
  );
