import { UNPRINTABLE } from './address.ts';

const NOT_VISIBLE = new RegExp(UNPRINTABLE.source, 'gu');

/** Letters and signs that look like nothing at all, although Unicode counts them among the visible. */
const BLANKS = /[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/u;

/** Scripts whose letters are mistaken for one another. */
const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u];

/**
 * What is wrong with a text that people know something by: it must show what it is. A word may be of any script, but not
 * of two that look alike (`Рay` with a Cyrillic Р): that is how one pretends to be somebody else.
 */
export function nameViolation(text: string): string | undefined {
  if (text.trim() === '') return 'must not be blank';
  if (UNPRINTABLE.test(text) || BLANKS.test(text)) return 'must not have invisible or control characters';
  const mixed = text.split(/[^\p{L}\p{M}]+/u).some((word) => SCRIPTS.filter((script) => script.test(word)).length > 1);
  return mixed ? 'must not mix letters of scripts that look alike in one word' : undefined;
}

/** Of projects. */
export const LONGEST_PROJECT_NAME = 100;

const LONGEST_IN_MAIL = 60;

/** What mail clients make links of has one of these inside: `www.a.b`, `http://a`, `a@b`. IDNA reads U+3002 as a dot. */
const LINK_SIGN = /[.:/\\@\u3002](?=\S)/gu;

/**
 * A name that somebody chose, as mail of ours shows it to others: one line, not long, in quotation marks so that it is
 * not read as our own words, and with a space after every sign that a mail client could make a link of.
 */
export function nameInMail(text: string): string {
  const line = plainName(text.replace(NOT_VISIBLE, ' ')).replaceAll('"', "'");
  const letters = [...line];
  const short = letters.length > LONGEST_IN_MAIL ? `${letters.slice(0, LONGEST_IN_MAIL - 1).join('')}…` : line;
  return `"${short.replace(LINK_SIGN, '$& ')}"`;
}

/** Neither a link (`www.…`) nor a message in the form of an address. */
const PLAIN_ADDRESS = /^(?!www\.)[\p{L}\p{N}_+.-]{1,40}@[\p{L}\p{N}.-]{1,60}$/u;

/** The address of somebody who has proven it, as mail of ours shows it to others; undefined when it does not. */
export const addressInMail = (email: string): string | undefined => (PLAIN_ADDRESS.test(email) ? email : undefined);

/** Of templates, campaigns and workflows. */
const LONGEST_NAME = 255;
const COPY = ' (Copy)';

/** Of a long name its end is left out: the copy must be able to be saved under its own name. */
export const nameOfCopy = (name: string): string =>
  name.slice(0, LONGEST_NAME - COPY.length).replace(/[\ud800-\udbff]$/, '') + COPY;

/** The one spelling that a name is stored in: compatible forms (full-width, mathematical) become plain letters. */
export const plainName = (text: string): string => text.normalize('NFKC').trim().replace(/\s+/g, ' ');
