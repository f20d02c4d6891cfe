import { UNPRINTABLE } from './address.ts';

const ALL_UNPRINTABLE = new RegExp(UNPRINTABLE.source, 'gu');

/** Characters that render blank although Unicode classifies them as letters or symbols. */
const BLANKS = /[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/u;

/** Scripts with letters that look alike. */
const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u];

/**
 * Returns the rule that a display name breaks, if any. A word may be of any script, but must not mix two that look alike
 * (`Рay` with a Cyrillic Р), to prevent impersonation.
 */
export function nameViolation(text: string): string | undefined {
  if (text.trim() === '') return 'must not be blank';
  if (UNPRINTABLE.test(text) || BLANKS.test(text)) return 'must not contain invisible or control characters';
  const mixed = text.split(/[^\p{L}\p{M}]+/u).some((word) => SCRIPTS.filter((script) => script.test(word)).length > 1);
  return mixed ? 'must not mix look-alike letters of different scripts in one word' : undefined;
}

export const MAX_PROJECT_NAME_LENGTH = 100;

const MAX_LENGTH_IN_MAIL = 60;

/** Characters inside of text that mail clients turn into links: `www.a.b`, `http://a`, `a@b`. IDNA reads U+3002 as a dot. */
const LINK_CHARACTER = /[.:/\\@\u3002](?=\S)/gu;

/**
 * Formats a user-chosen name for system mail to other people: one short line, in quotation marks to set it apart from our
 * text, with a space after every character that could make a mail client create a link.
 */
export function nameInMail(text: string): string {
  const line = normalizeName(text.replace(ALL_UNPRINTABLE, ' ')).replaceAll('"', "'");
  const letters = [...line];
  const short = letters.length > MAX_LENGTH_IN_MAIL ? `${letters.slice(0, MAX_LENGTH_IN_MAIL - 1).join('')}…` : line;
  return `"${short.replace(LINK_CHARACTER, '$& ')}"`;
}

/** Excludes links (`www.…`) and messages in the form of an address. */
const PLAIN_ADDRESS = /^(?!www\.)[\p{L}\p{N}_+.-]{1,40}@[\p{L}\p{N}.-]{1,60}$/u;

/** Returns a verified address for display in system mail to other people, or undefined when it must not be shown. */
export const addressInMail = (email: string): string | undefined => (PLAIN_ADDRESS.test(email) ? email : undefined);

/** Returns the word for a role in texts for people: `MEMBER` is Member. */
export const roleInText = (role: string): string => role.charAt(0) + role.slice(1).toLowerCase();

/** The limit for templates, campaigns and workflows. */
const MAX_NAME_LENGTH = 255;
const COPY_SUFFIX = ' (Copy)';

const FOLLOW_UP_SUFFIX = ' (Follow-up)';

/** Shortens a long name, so that the result respects the limit, without splitting a surrogate pair. */
const withSuffix = (name: string, suffix: string): string =>
  name.slice(0, MAX_NAME_LENGTH - suffix.length).replace(/[\ud800-\udbff]$/, '') + suffix;

export const nameOfCopy = (name: string): string => withSuffix(name, COPY_SUFFIX);
export const nameOfFollowUp = (name: string): string => withSuffix(name, FOLLOW_UP_SUFFIX);

/** Returns the stored form of a name: compatibility characters (full-width, mathematical) become plain letters. */
export const normalizeName = (text: string): string => text.normalize('NFKC').trim().replace(/\s+/g, ' ');
