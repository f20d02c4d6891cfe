import { isShorterInBase64, type MimeBuffer, quotedPrintable } from './encoding.ts';
import { isSmtpData } from './smtp-message.ts';

/** Returns the text of one placeholder for one mail, with whole characters and whole line ends. */
export type PlaceholderText<Values> = (values: Values) => string;

export type PrecompiledPiece<Values> = string | PlaceholderText<Values>;

/** Ends a line of the encoding without a line end in the text (RFC 2045, 6.7). */
const SOFT_BREAK = '=\r\n';
/** Text that quoted-printable leaves unchanged on a separate line. */
const UNCHANGED = /^[!-\-/-<>-EG-~](?:[ -<>-~]*[!-<>-~])?$/;
const LINE_WIDTH = 75;

/**
 * A text that many mails share except for placeholders, encoded as quoted-printable once. Each placeholder has lines of
 * its own, so that its value does not affect the encoding around it.
 */
export class PrecompiledText<Values> {
  /** The fixed texts around the placeholders: one more than there are placeholders. */
  private readonly segments: Buffer[];
  private readonly placeholders: PlaceholderText<Values>[];
  /**
   * Whether SMTP needs no change of it (`toSmtpData`). The fixed texts are looked at once. A value cannot change that: it
   * is checked or encoded, and begins a line of its own.
   */
  readonly isSmtpData: boolean;

  private constructor(segments: Buffer[], placeholders: PlaceholderText<Values>[]) {
    this.segments = segments;
    this.placeholders = placeholders;
    this.isSmtpData = isSmtpData(`${segments.map((segment) => segment.toString('latin1')).join('value')}\r\n`);
  }

  /** Returns undefined for a text that is shorter in base64. */
  static of<Values>(pieces: PrecompiledPiece<Values>[]): PrecompiledText<Values> | undefined {
    const texts = [''];
    const placeholders: PlaceholderText<Values>[] = [];
    for (const piece of pieces)
      if (typeof piece === 'string') texts[placeholders.length] += piece;
      else texts[placeholders.push(piece)] = '';
    if (isShorterInBase64(Buffer.from(texts.join('')))) return undefined;
    return new PrecompiledText(
      texts.map((text, index) => encodeSegment(text, index > 0, index < placeholders.length)),
      placeholders,
    );
  }

  write(out: MimeBuffer, values: Values): void {
    for (let index = 0; index < this.segments.length; index++) {
      const segment = this.segments[index];
      if (segment) out.copy(segment);
      const text = this.placeholders[index]?.(values);
      if (text !== undefined)
        out.ascii(text.length <= LINE_WIDTH && UNCHANGED.test(text) ? text : quotedPrintable(toByteString(text)));
    }
  }
}

/** Adds soft breaks, so that the placeholders before and after it have lines of their own. */
function encodeSegment(text: string, afterPlaceholder: boolean, beforePlaceholder: boolean): Buffer {
  const encoded = quotedPrintable(toByteString(text));
  const needsNoStart = !afterPlaceholder || (text === '' && !beforePlaceholder) || encoded.startsWith('\r\n');
  const start = needsNoStart ? '' : SOFT_BREAK;
  const end = !beforePlaceholder || encoded.endsWith('\r\n') || text === '' ? '' : SOFT_BREAK;
  return Buffer.from(start + encoded + end, 'latin1');
}

/** Returns the UTF-8 bytes of a text as one character each. */
const toByteString = (text: string): string =>
  Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1');
