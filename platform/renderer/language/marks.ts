// Around the number of a value. No text has them; and beside others that are Latin, texts are half as long to a computer.
const OPEN = '\x02';
const CLOSE = '\x03';
const MARK = new RegExp(`${OPEN}([0-9]+)${CLOSE}`);
const MARKS = new RegExp(MARK, 'g');
const ANY_MARK = new RegExp(`[${OPEN}${CLOSE}]`);
export const hasMarks = (text: string): boolean => ANY_MARK.test(text);
/** Text that an HTML reader takes over as it is has no blanks but single ones between words. */
const WORD = `[^\\s\\u200b${OPEN}${CLOSE}]+`;
const PLAIN = new RegExp(`^${WORD}(?: ${WORD})*$`);

/** Half a character: the other half may be the beginning of what comes next. */
const LONE = /\p{Surrogate}/u;
/** What comes next belongs to the name of a tag or an entity. */
const UNFINISHED = /(?:<[^\s>]*|&[#\w]*)$/;
const MAX_LENGTH = 500;

/**
 * Beside its HTML, a rendering writes an outline: the same with a mark in place of each value. All mails of a campaign
 * that take the same way through their template have the same outline; so it is turned into text once for all of them,
 * and the values are put into that text. Turning HTML into text takes a hundred times as long as rendering it.
 */
export class Marks {
  private readonly numbers = new Map<string, number>();
  /** Somebody else's text has our marks in it. */
  private spoiled: boolean;

  constructor(spoiled = false) {
    this.spoiled = spoiled;
  }

  /** What stands in the outline for `value`, which is written as `html` after `before`. */
  mark(value: string, html: string, before: string): string {
    if (value.length > MAX_LENGTH || !PLAIN.test(value) || LONE.test(value) || UNFINISHED.test(before))
      return this.plain(html);
    let number = this.numbers.get(value);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(value, number);
    }
    return OPEN + number + CLOSE;
  }

  /** HTML that was written elsewhere and has an outline of its own, in which nobody knew what it would come after. */
  piece(html: string, outline: string, before: string): string {
    return outline === html || UNFINISHED.test(before) ? this.plain(html) : outline;
  }

  plain(html: string): string {
    if (hasMarks(html)) this.spoiled = true;
    return html;
  }

  get usable(): boolean {
    return !this.spoiled;
  }

  /** The values in the order of their numbers. */
  get values(): string[] {
    return [...this.numbers.keys()];
  }
}

/** A text with marks, taken apart: pieces of text and, at every odd place, the number of a value. */
export const takeApart = (text: string): string[] => text.split(MARK);

/** Where a mark stands in an outline. */
export interface Mark {
  start: number;
  end: number;
}

export const marksIn = (outline: string): Mark[] =>
  [...outline.matchAll(MARKS)].map(({ 0: { length }, index }) => ({ start: index, end: index + length }));

export function putTogether(pieces: string[], values: string[]): string {
  let text = '';
  for (let place = 0; place < pieces.length; place++) {
    const piece = pieces[place] ?? '';
    text += place % 2 === 0 ? piece : (values[Number(piece)] ?? '');
  }
  return text;
}
