import joi from 'joi';
import type { Typed } from './typed.ts';
import { refuse } from './violations.ts';

const MAX_HEADERS = 100;
const MAX_NAME = 255;
/** 998 is the longest line of RFC 5322. */
const MAX_VALUE = 998;
/** Printable ASCII without the colon, as RFC 5322 has it. */
const NAME = /^[!-9;-~]+$/;
/** Line breaks would forge headers, and the other control characters have no business in one; a tab is a blank. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

const RESERVED = new Set([
  ...['from', 'sender', 'to', 'cc', 'bcc', 'subject', 'date', 'message-id', 'return-path', 'received', 'mime-version'],
  ...['dkim-signature', 'authentication-results'],
]);
const RESERVED_BEGINNINGS = ['content-', 'arc-', 'x-everpost-'];

/**
 * Headers that a relay takes for orders: they can set the envelope, templates, tracking or the pool of another account
 * of the operator's. Nearly all relays take them out of the mail, so no recipient would see them anyway.
 */
const RELAY_CONTROL = new Set(['x-smtpapi', 'x-virtual-mta', 'x-job']);
const RELAY_CONTROL_BEGINNINGS = [
  'x-ses-',
  'x-mc-',
  'x-mailgun-',
  'x-msys-',
  'x-pm-',
  'x-mj-',
  'x-mailin-',
  'x-sparkpost-',
];

const isOneOf = (lower: string, names: Set<string>, beginnings: string[]): boolean =>
  names.has(lower) || beginnings.some((beginning) => lower.startsWith(beginning));

function faultOfName(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (!NAME.test(name) || name.length > MAX_NAME) return 'is no name that a header can have';
  if (isOneOf(lower, RESERVED, RESERVED_BEGINNINGS)) return 'is a header that cannot be set';
  if (isOneOf(lower, RELAY_CONTROL, RELAY_CONTROL_BEGINNINGS)) return 'is a header that steers the relay';
  return undefined;
}

const value = joi
  .string()
  .min(0)
  .max(MAX_VALUE)
  .custom((text: string, helpers) => {
    const name = String(helpers.state.path?.at(-1));
    const fault = faultOfName(name);
    if (fault) return refuse(helpers, 'custom', fault);
    return CONTROL.test(text.replaceAll('\t', ' '))
      ? refuse(helpers, 'invalid_string', 'must not contain line breaks or control characters')
      : text;
  });

/** Headers of a mail, by their names. */
export const mailHeaders = (): Typed<Record<string, string>> =>
  joi
    .object()
    .pattern(/^/, value)
    .max(MAX_HEADERS)
    .custom((headers: Record<string, string>, helpers) => {
      const names = Object.keys(headers).map((name) => name.toLowerCase());
      return new Set(names).size < names.length ? refuse(helpers, 'custom', 'has a header twice') : headers;
    })
    .required();
