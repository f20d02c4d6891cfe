// A placeholder is the number of a value between these. Control characters do not occur in mail text, and being Latin-1
// they let V8 store the text with one byte per character.
const OPEN = '\x02';
const CLOSE = '\x03';
const PLACEHOLDER = new RegExp(`${OPEN}([0-9]+)${CLOSE}`);
const ALL_PLACEHOLDERS = new RegExp(PLACEHOLDER, 'g');
const DELIMITER = new RegExp(`[${OPEN}${CLOSE}]`);

export const hasPlaceholders = (text: string): boolean => DELIMITER.test(text);
/** HTML-to-text conversion changes nothing in words separated by single spaces. */
const WORD = `[^\\s\\u200b${OPEN}${CLOSE}]+`;
const PLAIN = new RegExp(`^${WORD}(?: ${WORD})*$`);

/** Half a surrogate pair: the other half may begin the next text. */
const LONE_SURROGATE = /\p{Surrogate}/u;
/** The text after this would belong to the name of a tag or an entity. */
const UNFINISHED_TAG = /(?:<[^\s>]*|&[#\w]*)$/;
const MAX_LENGTH = 500;

/**
 * Collects the values of a rendering. Beside its HTML, a rendering writes a skeleton: the same with a placeholder for
 * each value. Mails of a campaign that take the same branches of the template share one skeleton, which is converted to
 * text once; converting HTML to text takes a hundred times as long as rendering it.
 */
export class Placeholders {
  private readonly numbers = new Map<string, number>();
  /** A text or value contains the placeholder characters itself, so the skeleton cannot be used. */
  private unusable: boolean;

  constructor(unusable = false) {
    this.unusable = unusable;
  }

  /** Returns what the skeleton gets for `value`, which is written as `html` after `before`. */
  add(value: string, html: string, before: string): string {
    if (value.length > MAX_LENGTH || !PLAIN.test(value) || LONE_SURROGATE.test(value) || UNFINISHED_TAG.test(before))
      return this.plain(html);
    let number = this.numbers.get(value);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(value, number);
    }
    return OPEN + number + CLOSE;
  }

  /** Returns what the skeleton gets for captured HTML, whose own skeleton does not know the text before it. */
  piece(html: string, skeleton: string, before: string): string {
    return skeleton === html || UNFINISHED_TAG.test(before) ? this.plain(html) : skeleton;
  }

  plain(html: string): string {
    if (hasPlaceholders(html)) this.unusable = true;
    return html;
  }

  get usable(): boolean {
    return !this.unusable;
  }

  /** The values in the order of their numbers. */
  get values(): string[] {
    return [...this.numbers.keys()];
  }
}

/** Splits a text at its placeholders: every odd item is the number of a value. */
export const splitAtPlaceholders = (text: string): string[] => text.split(PLACEHOLDER);

/** The position of a placeholder in a skeleton. */
export interface Placeholder {
  start: number;
  end: number;
}

export const placeholdersIn = (skeleton: string): Placeholder[] =>
  [...skeleton.matchAll(ALL_PLACEHOLDERS)].map(({ 0: { length }, index }) => ({ start: index, end: index + length }));

export function fillPlaceholders(pieces: string[], values: string[]): string {
  let text = '';
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index] ?? '';
    text += index % 2 === 0 ? piece : (values[Number(piece)] ?? '');
  }
  return text;
}
