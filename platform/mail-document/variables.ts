import { textLiteral } from './literals.ts';
import type { VariableFormat } from './types.ts';

export const MAX_NAME = 100;
export const MAX_FALLBACK = 500;

export const variableFormats: VariableFormat[] = ['upper', 'lower', 'number', 'date'];

/** Names of JavaScript's objects, which no variable has. */
const UNAVAILABLE = new Set(['__proto__', 'constructor', 'prototype']);
/** Words that the template language reads as something else than a name. */
const KEYWORDS = new Set(['and', 'or', 'not', 'in', 'is', 'if', 'else', 'true', 'false', 'none', 'null', 'r']);
/** No variable can have these words in its name, where it is written as text. */
const OPERATORS = new Set(['and', 'or', 'not', 'in', 'is', 'if', 'else', 'true', 'false', 'none', 'null']);
/** Conditions and loops need these names, so no item of a loop can have them. */
export const reservedItems = new Set(['data', 'email', 'subscribed', 'loop']);
const WORD = /^[\p{L}_$][\p{L}\p{M}\p{N}_$]*$/u;
const FORBIDDEN = /["'`{}\p{Cc}]/u;

/** Returns which rule the name of a variable breaks, as the rest of a sentence that begins with "name". */
export function nameFault(name: string): string | undefined {
  if (name.trim() === '') return 'must not be empty';
  if (name.length > MAX_NAME) return `must be at most ${MAX_NAME} characters long`;
  if (FORBIDDEN.test(name)) return 'must not contain quotes or braces';
  const keys = name.split('.');
  if (keys.some((key) => key.trim() === '')) return 'must have a key before and after each dot';
  if (keys.some((key) => UNAVAILABLE.has(key.trim()))) return 'is not available';
  return undefined;
}

export const isWord = (text: string): boolean => WORD.test(text) && !KEYWORDS.has(text);

/** Writes the name of a variable as an expression: `order.total`, `data['first name']`. */
export function nameExpression(name: string): string {
  const [first = '', ...rest] = name.split('.');
  return (isWord(first) ? first : `data[${textLiteral(first)}]`) + rest.map(keyExpression).join('');
}

const keyExpression = (key: string): string => (isWord(key) ? `.${key}` : `[${textLiteral(key)}]`);

export interface Chip {
  name: string;
  fallback: string | null;
  format: VariableFormat | null;
}

/** Writes a chip as a template tag, such as `{{ firstName ?? 'there' }}`. */
export function chipTag({ name, fallback, format }: Chip, lang: string): string {
  const value = nameExpression(name);
  const filled = fallback === null ? value : `${value} ?? ${textLiteral(fallback)}`;
  if (format === null) return `{{ ${filled} }}`;
  const filter = format === 'number' || format === 'date' ? `${format}(${textLiteral(lang)})` : format;
  return `{{ ${fallback === null ? filled : `(${filled})`} | ${filter} }}`;
}

/** As the template language reads names: words with spaces between them, and dots. */
const WORDS = '[\\p{L}\\p{M}\\p{N}_$]{1,100}(?: {1,10}[\\p{L}\\p{M}\\p{N}_$]{1,100}){0,20}';
const STRING = `"(?:[^"\\\\]|\\\\[\\s\\S])*"|'(?:[^'\\\\]|\\\\[\\s\\S])*'`;
const CHIP = new RegExp(
  `\\{\\{\\s{0,50}(${WORDS}(?:\\.${WORDS}){0,50})\\s{0,50}(?:\\?\\?\\s{0,50}(${STRING})\\s{0,50})?\\}\\}`,
  'uy',
);
const STRING_ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r' };

export type TextPiece = { text: string } | { chip: Chip } | { fault: string };

/** Splits a text at its complete `{{name}}` and `{{name ?? "text"}}`. Ends at the first tag that is anything else. */
export function splitAtVariables(text: string): TextPiece[] {
  if (text.includes('{%')) return [{ fault: 'must not contain "{%"' }];
  const pieces: TextPiece[] = [];
  let from = 0;
  for (let at = text.indexOf('{{'); at !== -1; at = text.indexOf('{{', from)) {
    CHIP.lastIndex = at;
    const match = CHIP.exec(text);
    if (!match && text.indexOf('}}', at + 2) === -1) break;
    const chip = match && chipOf(match);
    if (!chip) return [{ fault: 'may contain {{ name }} and {{ name ?? "text" }} only' }];
    if (at > from) pieces.push({ text: text.slice(from, at) });
    pieces.push({ chip });
    from = CHIP.lastIndex;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

function chipOf([, name = '', quoted]: RegExpExecArray): Chip | undefined {
  const fallback = quoted === undefined ? null : unquoted(quoted);
  if (nameFault(name) || isExpression(name) || (fallback !== null && fallback.length > MAX_FALLBACK)) return undefined;
  return { name, fallback, format: null };
}

/** `a or b` and `12` are no names; `is active` is one. */
function isExpression(name: string): boolean {
  const words = name.split(/[ .]+/);
  return /^\d+$/.test(words[0] ?? '') || words.some((word, at) => OPERATORS.has(word) && !(at === 0 && word === 'is'));
}

const unquoted = (text: string): string =>
  text.slice(1, -1).replace(/\\([\s\S])/g, (_, char: string) => STRING_ESCAPES[char] ?? char);
