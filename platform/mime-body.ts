/** Bytes on their way into one message; it grows as needed and is used again for the next. */
export class Scratch {
  bytes = Buffer.allocUnsafeSlow(64 * 1024);
  length = 0;

  room(more: number): Buffer {
    if (this.length + more <= this.bytes.length) return this.bytes;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + more));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
    return larger;
  }

  /** ASCII alone. */
  ascii(text: string): void {
    this.length += this.room(text.length).write(text, this.length, 'latin1');
  }

  utf8(text: string): void {
    this.length += this.room(text.length * 3).write(text, this.length);
  }

  copy(bytes: Buffer): void {
    this.room(bytes.length).set(bytes, this.length);
    this.length += bytes.length;
  }

  /** A copy of what is there, and begins anew. What was large once is not kept for ever. */
  take(): Buffer {
    const taken = roomFor(this.length);
    this.bytes.copy(taken, 0, 0, this.length);
    this.length = 0;
    if (this.bytes.length > KEPT) this.bytes = Buffer.allocUnsafeSlow(64 * 1024);
    return taken;
  }
}

const KEPT = 4 * 1024 * 1024;

/** Mails leave about in the order in which they were written; to ask for each one's memory alone costs more than the copy. */
const SLAB = 256 * 1024;
let slab = Buffer.alloc(0);
let used = 0;

function roomFor(length: number): Buffer {
  if (length > SLAB / 8) return Buffer.allocUnsafeSlow(length);
  if (used + length > slab.length) [slab, used] = [Buffer.allocUnsafeSlow(SLAB), 0];
  used += length;
  return slab.subarray(used - length, used);
}

export type TransferEncoding = 'quoted-printable' | 'base64';

/** A text as it is written into a part, and how it is encoded there. */
export interface EncodedText {
  encoding: TransferEncoding;
  /** ASCII. */
  text: string;
}

/** Text in which a third of the bytes is not ASCII is shorter in base64; all other stays readable, and unsuspected. */
export function isWide(bytes: Buffer): boolean {
  let wide = 0;
  for (const byte of bytes) wide += byte >>> 7;
  return wide * 3 > bytes.length;
}

export function encodeText(text: string, known?: KnownLines): EncodedText {
  const quoted = (bytes: string) => (known ? known.quotedPrintable(bytes) : quotedPrintable(bytes));
  if (Buffer.byteLength(text) === text.length) return { encoding: 'quoted-printable', text: quoted(text) };
  const bytes = Buffer.from(text);
  if (isWide(bytes)) return { encoding: 'base64', text: inLines(bytes.toString('base64')) };
  return { encoding: 'quoted-printable', text: quoted(bytes.toString('latin1')) };
}

/** RFC 2045, 6.8. */
function inLines(base64: string): string {
  const lines: string[] = [];
  for (let at = 0; at < base64.length; at += 76) lines.push(base64.slice(at, at + 76));
  return lines.join('\r\n');
}

const [CR, DOT, EQUALS, F] = [13, 46, 61, 70];
/** RFC 2045, 6.7: a line has 76 characters, the last of which may have to be the `=` of a soft break. */
const WIDTH = 75;

const escaped = (byte: string): string => `=${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
const UNPRINTABLE = /[^\t\n\r\x20-\x7e]|\r(?!\n)/;
const UNPRINTABLES = new RegExp(UNPRINTABLE, 'g');
/** Such as an address: there is nothing in it to encode. */
const ONE_WORD = /^[!-<>-~]*$/;
const SPACES_AT_END = /[ \t](?=\r?\n|$)/g;

/**
 * Bytes, one a character, as quoted-printable. Done in strokes over the whole text, which cost a tenth of going from byte
 * to byte. Besides what must be encoded, a dot and the F of `From ` are where they begin a line: so no line needs another
 * dot on the wire, and no mailbox file a `>` that would break the signature.
 */
export function quotedPrintable(bytes: string): string {
  const safe = ONE_WORD.test(bytes) ? bytes : printable(bytes);
  const out: string[] = [];
  for (let begin = 0; begin <= safe.length; ) {
    const { end, next } = lineAt(safe, begin);
    writeLine(out, safe, begin, end);
    begin = next;
  }
  return out.join('\r\n');
}

function printable(bytes: string): string {
  const safe = bytes.replaceAll('=', '=3D');
  return (UNPRINTABLE.test(safe) ? safe.replace(UNPRINTABLES, escaped) : safe).replace(SPACES_AT_END, escaped);
}

/** Where a line ends, and where the next one begins: behind the text, when there is none. */
function lineAt(text: string, begin: number): { end: number; next: number } {
  const found = text.indexOf('\n', begin);
  if (found < 0) return { end: text.length, next: text.length + 1 };
  return { end: found > begin && text.charCodeAt(found - 1) === CR ? found - 1 : found, next: found + 1 };
}

/**
 * The mails of a campaign differ in a few lines. Those of the first one are kept as they were written, and looked up in
 * the others; a line costs a tenth of being written anew.
 */
export class KnownLines {
  private readonly lines = new Map<string, string>();
  private texts = 0;

  quotedPrintable(bytes: string): string {
    // Two parts, and a second mail in case the first one was out of the ordinary.
    const learns = this.texts++ < 4 && bytes.length < MOST_KNOWN;
    const out: string[] = [];
    for (let begin = 0; begin <= bytes.length; ) {
      const { end, next } = lineAt(bytes, begin);
      out.push(this.written(bytes.slice(begin, end), learns));
      begin = next;
    }
    return out.join('\r\n');
  }

  private written(line: string, learns: boolean): string {
    const known = this.lines.get(line);
    if (known !== undefined) return known;
    const written = quotedPrintable(line);
    // A copy, since a piece of a text keeps all of it in memory.
    if (learns) this.lines.set(Buffer.from(line, 'latin1').toString('latin1'), written);
    return written;
  }
}

const MOST_KNOWN = 1024 * 1024;

/** One line of the text, in as many as it takes. */
function writeLine(out: string[], safe: string, begin: number, end: number): void {
  let at = begin;
  for (;;) {
    const lead = leadOf(safe, at);
    const room = WIDTH - (lead ? 2 : 0);
    if (end - at <= room) {
      out.push(lead ? lead + safe.slice(at + 1, end) : safe.slice(at, end));
      return;
    }
    let cut = at + room;
    // Never inside of an escape.
    if (safe.charCodeAt(cut - 1) === EQUALS) cut -= 1;
    else if (safe.charCodeAt(cut - 2) === EQUALS) cut -= 2;
    out.push(lead ? `${lead}${safe.slice(at + 1, cut)}=` : `${safe.slice(at, cut)}=`);
    at = cut;
  }
}

/** What stands for the first character where it may not begin a line. */
function leadOf(safe: string, at: number): string {
  const first = safe.charCodeAt(at);
  if (first === DOT) return '=2E';
  return first === F && safe.startsWith('From ', at) ? '=46' : '';
}
