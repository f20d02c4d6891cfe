import { isWide, quotedPrintable, type Scratch } from './mime-body.ts';

/** What stands in one place of a form in one mail. Whole characters, and no half of a line end. */
export type Hole<Filling> = (filling: Filling) => string;

export type FormPiece<Filling> = string | Hole<Filling>;

/** A line may end anywhere without the text having one there (RFC 2045, 6.7). */
const SOFT_BREAK = '=\r\n';
/** Text that is as it is in quoted-printable, on a line of its own, where that is long enough. */
const AS_IT_IS = /^[!-\-/-<>-EG-~](?:[ -<>-~]*[!-<>-~])?$/;
const LINE = 75;

/**
 * A text that many mails share but for a few places, written as quoted-printable once. Each hole has lines of its own,
 * so whatever stands in it changes nothing around it.
 */
export class QuotedForm<Filling> {
  /** One more than there are holes. */
  private readonly strips: Buffer[];
  private readonly holes: Hole<Filling>[];

  private constructor(strips: Buffer[], holes: Hole<Filling>[]) {
    this.strips = strips;
    this.holes = holes;
  }

  /** Undefined for a text that is better written in base64. */
  static of<Filling>(pieces: FormPiece<Filling>[]): QuotedForm<Filling> | undefined {
    const texts = [''];
    const holes: Hole<Filling>[] = [];
    for (const piece of pieces)
      if (typeof piece === 'string') texts[holes.length] += piece;
      else texts[holes.push(piece)] = '';
    if (isWide(Buffer.from(texts.join('')))) return undefined;
    return new QuotedForm(
      texts.map((text, place) => stripOf(text, place > 0, place < holes.length)),
      holes,
    );
  }

  write(out: Scratch, filling: Filling): void {
    for (let place = 0; place < this.strips.length; place++) {
      const strip = this.strips[place];
      if (strip) out.copy(strip);
      const text = this.holes[place]?.(filling);
      if (text !== undefined)
        out.ascii(text.length <= LINE && AS_IT_IS.test(text) ? text : quotedPrintable(asBytes(text)));
    }
  }
}

function stripOf(text: string, afterHole: boolean, beforeHole: boolean): Buffer {
  const written = quotedPrintable(asBytes(text));
  const begins = !afterHole || (text === '' && !beforeHole) || written.startsWith('\r\n') ? '' : SOFT_BREAK;
  const ends = !beforeHole || written.endsWith('\r\n') || text === '' ? '' : SOFT_BREAK;
  return Buffer.from(begins + written + ends, 'latin1');
}

/** One a character. */
const asBytes = (text: string): string =>
  Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1');
