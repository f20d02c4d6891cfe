import joi from 'joi';
import { documented } from './joi-violations.ts';

/** Invisible and control characters, which no address may contain. */
export const UNPRINTABLE = /[\p{C}\u2028\u2029]/u;

/**
 * Characters that must not appear in a single line of text: line breaks would forge headers, and bidirectional controls
 * reverse the text after them. Zero-width joiners are allowed, because names in many languages need them.
 */
export const UNSAFE_IN_LINE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** Texts without them, as a pattern that every regular expression engine reads. */
export const SAFE_LINE_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]*$';

/**
 * An e-mail address, trimmed and lower-cased; at most 254 characters, 64 of them before the @. With `min(0)` an empty
 * string fails as an invalid address and not as a string that is too short.
 */
export const addressRule = () =>
  documented(
    joi
      .string()
      .min(0)
      .custom((value: string) => value.trim().toLowerCase())
      .email({ tlds: false })
      .custom((value: string, helpers) => (UNPRINTABLE.test(value) ? helpers.error('string.email') : value)),
    { maxLength: 254 },
  );

const rule = addressRule();

/** Parses an address that does not come from a request body. Returns undefined when the text is not an address. */
export function parseAddress(text: string): string | undefined {
  // Skips joi, whose errors are slow to build: an import file may have millions of bad rows.
  if (!text.includes('@')) return undefined;
  const { value, error } = rule.validate(text, { convert: false });
  return error ? undefined : value;
}

const MAX_NAME_LENGTH = 255;

/** Parses `Name <address>` or a bare address. */
export function readMailbox(text: string): { email: string; name?: string } | undefined {
  const [, name = '', address = text] = /^([^<>]*)<([^<>]*)>\s*$/.exec(text) ?? [];
  const email = parseAddress(address);
  if (email === undefined) return undefined;
  const unquoted = name.trim().replace(/^"(.*)"$/, '$1');
  if (unquoted === '') return { email };
  return unquoted.length > MAX_NAME_LENGTH || UNSAFE_IN_LINE.test(unquoted) ? undefined : { email, name: unquoted };
}
