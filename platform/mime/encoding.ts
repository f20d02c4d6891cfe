/** A growing buffer for one message, reused for the next. */
export class MimeBuffer {
  bytes = Buffer.allocUnsafeSlow(64 * 1024);
  length = 0;

  private reserve(size: number): Buffer {
    if (this.length + size <= this.bytes.length) return this.bytes;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + size));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
    return larger;
  }

  /** Appends text that is known to be ASCII. */
  ascii(text: string): void {
    this.length += this.reserve(text.length).write(text, this.length, 'latin1');
  }

  copy(bytes: Buffer): void {
    this.reserve(bytes.length).set(bytes, this.length);
    this.length += bytes.length;
  }

  /** The content, one character for each byte. */
  text(): string {
    return this.bytes.toString('latin1', 0, this.length);
  }

  /** Returns a copy of the content and empties the buffer. Releases a buffer that one large message has grown. */
  take(): Buffer {
    const taken = allocate(this.length);
    this.bytes.copy(taken, 0, 0, this.length);
    this.length = 0;
    if (this.bytes.length > MAX_KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(64 * 1024);
    return taken;
  }
}

const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/** Mails are freed roughly in the order of their creation, so slices of a slab are cheaper than single allocations. */
const SLAB_BYTES = 256 * 1024;
let slab = Buffer.alloc(0);
let slabUsed = 0;

function allocate(length: number): Buffer {
  if (length > SLAB_BYTES / 8) return Buffer.allocUnsafeSlow(length);
  if (slabUsed + length > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    slabUsed = 0;
  }
  slabUsed += length;
  return slab.subarray(slabUsed - length, slabUsed);
}

/** Lets the next messages overwrite those that were taken: for a process that has passed them on. */
export function reuseMessageMemory(): void {
  slabUsed = 0;
}

export type TransferEncoding = 'quoted-printable' | 'base64';

/** The text of a MIME part, encoded. */
export interface EncodedText {
  encoding: TransferEncoding;
  /** ASCII. */
  text: string;
}

/** Base64 is shorter for text with more than a third of non-ASCII bytes. Other text stays readable for spam filters. */
export function isShorterInBase64(bytes: Buffer): boolean {
  let nonAscii = 0;
  for (const byte of bytes) nonAscii += byte >>> 7;
  return nonAscii * 3 > bytes.length;
}

export function encodeText(text: string, known?: EncodedLineCache): EncodedText {
  const quoted = (bytes: string) => (known ? known.quotedPrintable(bytes) : quotedPrintable(bytes));
  if (Buffer.byteLength(text) === text.length) return { encoding: 'quoted-printable', text: quoted(text) };
  const bytes = Buffer.from(text);
  if (isShorterInBase64(bytes)) return { encoding: 'base64', text: wrapBase64(bytes.toString('base64')) };
  return { encoding: 'quoted-printable', text: quoted(bytes.toString('latin1')) };
}

/** RFC 2045, 6.8: at most 76 characters a line. */
function wrapBase64(base64: string): string {
  const lines: string[] = [];
  for (let start = 0; start < base64.length; start += 76) lines.push(base64.slice(start, start + 76));
  return lines.join('\r\n');
}

const CR = 13;
const DOT = 46;
const EQUALS = 61;
const F = 70;
/** RFC 2045, 6.7: at most 76 characters a line, of which the last may be the `=` of a soft break. */
const LINE_WIDTH = 75;

const escapeByte = (byte: string): string => `=${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
const UNPRINTABLE = /[^\t\n\r\x20-\x7e]|\r(?!\n)/;
const UNPRINTABLES = new RegExp(UNPRINTABLE, 'g');
/** Printable text without blanks and `=`, such as an address: needs no escapes. */
const NO_ESCAPES = /^[!-<>-~]*$/;
const TRAILING_BLANKS = /[ \t](?=\r?\n|$)/g;

/**
 * Encodes bytes, given as one character each, as quoted-printable. Works with replacements over the whole text, which take
 * a tenth of the time of a loop over bytes. Also escapes a dot and the F of `From ` at line starts, so that neither SMTP
 * dot-stuffing nor the `>` of mbox files changes the signed text.
 */
export function quotedPrintable(bytes: string): string {
  const safe = NO_ESCAPES.test(bytes) ? bytes : escapeBytes(bytes);
  const out: string[] = [];
  for (let start = 0; start <= safe.length; ) {
    const { end, next } = lineAt(safe, start);
    writeLine(out, safe, start, end);
    start = next;
  }
  return out.join('\r\n');
}

function escapeBytes(bytes: string): string {
  const safe = bytes.replaceAll('=', '=3D');
  return (UNPRINTABLE.test(safe) ? safe.replace(UNPRINTABLES, escapeByte) : safe).replace(TRAILING_BLANKS, escapeByte);
}

/** Returns the end of a line and the start of the next one, which lies behind the text after the last line. */
function lineAt(text: string, start: number): { end: number; next: number } {
  const found = text.indexOf('\n', start);
  if (found < 0) return { end: text.length, next: text.length + 1 };
  return { end: found > start && text.charCodeAt(found - 1) === CR ? found - 1 : found, next: found + 1 };
}

/**
 * Caches encoded lines: the mails of a campaign differ in a few lines only. The lines of the first mails are kept; a
 * lookup takes a tenth of the time of an encoding.
 */
export class EncodedLineCache {
  private readonly lines = new Map<string, string>();
  private textCount = 0;

  quotedPrintable(bytes: string): string {
    // Two parts of two mails, in case the first mail is unusual.
    const learns = this.textCount++ < 4 && bytes.length < MAX_LEARNED_LENGTH;
    const out: string[] = [];
    for (let start = 0; start <= bytes.length; ) {
      const { end, next } = lineAt(bytes, start);
      out.push(this.encode(bytes.slice(start, end), learns));
      start = next;
    }
    return out.join('\r\n');
  }

  private encode(line: string, learns: boolean): string {
    const known = this.lines.get(line);
    if (known !== undefined) return known;
    const encoded = quotedPrintable(line);
    // Copied, because a slice keeps the whole text in memory.
    if (learns) this.lines.set(Buffer.from(line, 'latin1').toString('latin1'), encoded);
    return encoded;
  }
}

const MAX_LEARNED_LENGTH = 1024 * 1024;

/** Writes one line of the text, with soft breaks where it is too long. */
function writeLine(out: string[], safe: string, start: number, end: number): void {
  let position = start;
  for (;;) {
    const lead = leadingEscape(safe, position);
    const room = LINE_WIDTH - (lead ? 2 : 0);
    if (end - position <= room) {
      out.push(lead ? lead + safe.slice(position + 1, end) : safe.slice(position, end));
      return;
    }
    let cut = position + room;
    // Does not split an escape.
    if (safe.charCodeAt(cut - 1) === EQUALS) cut -= 1;
    else if (safe.charCodeAt(cut - 2) === EQUALS) cut -= 2;
    out.push(lead ? `${lead}${safe.slice(position + 1, cut)}=` : `${safe.slice(position, cut)}=`);
    position = cut;
  }
}

/** Returns the escape of a first character that must not start a line, or an empty string. */
function leadingEscape(safe: string, position: number): string {
  const first = safe.charCodeAt(position);
  if (first === DOT) return '=2E';
  return first === F && safe.startsWith('From ', position) ? '=46' : '';
}
