import { UNPRINTABLE } from './address.ts';

/** Letters and signs that look like nothing at all, although Unicode counts them among the visible. */
const BLANKS = /[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/u;

/** Scripts whose letters are mistaken for one another. */
const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u];

/**
 * What is wrong with a text that people know something by: it must show what it is. A word may be of any script, but not
 * of two that look alike (`Рay` with a Cyrillic Р): that is how one pretends to be somebody else.
 */
export function nameFault(text: string): string | undefined {
  if (text.trim() === '') return 'must not be blank';
  if (UNPRINTABLE.test(text) || BLANKS.test(text)) return 'must not have invisible or control characters';
  const mixed = text.split(/[^\p{L}\p{M}]+/u).some((word) => SCRIPTS.filter((script) => script.test(word)).length > 1);
  return mixed ? 'must not mix letters of scripts that look alike in one word' : undefined;
}

/** Of templates, campaigns and workflows. */
const LONGEST_NAME = 255;
const COPY = ' (Copy)';

/** Of a long name its end is left out: the copy must be able to be saved under its own name. */
export const nameOfCopy = (name: string): string =>
  name.slice(0, LONGEST_NAME - COPY.length).replace(/[\ud800-\udbff]$/, '') + COPY;

/** The one spelling that a name is stored in: compatible forms (full-width, mathematical) become plain letters. */
export const plainName = (text: string): string => text.normalize('NFKC').trim().replace(/\s+/g, ' ');
