import joi from 'joi';

/** Invisible and control characters have no place in an address. */
export const UNPRINTABLE = /[\p{C}\u2028\u2029]/u;

/**
 * What has no place in one line of text: a line break would forge headers, and some characters make the rest run
 * backwards. The invisible ones that join letters are none of these: names of many languages are written with them.
 */
export const NOT_IN_A_LINE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/**
 * An e-mail address, trimmed and lower-cased; at most 254 characters, 64 of them before the @. `min(0)` leaves the empty
 * string to the e-mail rule, so that it is an invalid address and not a short text.
 */
export const addressRule = () =>
  joi
    .string()
    .min(0)
    .custom((value: string) => value.trim().toLowerCase())
    .email({ tlds: false })
    .custom((value: string, helpers) => (UNPRINTABLE.test(value) ? helpers.error('string.email') : value));

const rule = addressRule();

/** The address in this text, or undefined when it is none: the same rule for what does not come as a request. */
export function readAddress(text: string): string | undefined {
  // joi takes a while over its errors, which a file of millions of bad rows would have it make.
  if (!text.includes('@')) return undefined;
  const { value, error } = rule.validate(text, { convert: false });
  return error ? undefined : value;
}

const MAX_NAME = 255;

/** `Name <address>`, or an address alone. */
export function readMailbox(text: string): { email: string; name?: string } | undefined {
  const [, name = '', address = text] = /^([^<>]*)<([^<>]*)>\s*$/.exec(text) ?? [];
  const email = readAddress(address);
  if (email === undefined) return undefined;
  const bare = name.trim().replace(/^"(.*)"$/, '$1');
  if (bare === '') return { email };
  return bare.length > MAX_NAME || NOT_IN_A_LINE.test(bare) ? undefined : { email, name: bare };
}
