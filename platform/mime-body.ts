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

  /** A copy of what is there, and begins anew. What was large once is not kept for ever. */
  take(): Buffer {
    const taken = Buffer.from(this.bytes.subarray(0, this.length));
    this.length = 0;
    if (this.bytes.length > KEPT) this.bytes = Buffer.allocUnsafeSlow(64 * 1024);
    return taken;
  }
}

const KEPT = 4 * 1024 * 1024;

export type TransferEncoding = 'quoted-printable' | 'base64';

/** Text in which a third of the bytes is not ASCII is shorter in base64; all other stays readable, and unsuspected. */
export function encodingFor(utf8: Buffer): TransferEncoding {
  let wide = 0;
  for (let at = 0; at < utf8.length; at++) wide += (utf8[at] ?? 0) >>> 7;
  return wide * 3 > utf8.length ? 'base64' : 'quoted-printable';
}

export function writeEncoded(out: Scratch, utf8: Buffer, encoding: TransferEncoding): void {
  if (encoding === 'base64') writeBase64(out, utf8);
  else writeQuotedPrintable(out, utf8);
}

/** RFC 2045, 6.8: lines of 76. */
function writeBase64(out: Scratch, source: Buffer): void {
  const text = source.toString('base64');
  for (let at = 0; at < text.length; at += 76) {
    if (at > 0) out.ascii('\r\n');
    out.ascii(text.slice(at, at + 76));
  }
}

const [TAB, LF, CR, SPACE, DOT, EQUALS, F] = [9, 10, 13, 32, 46, 61, 70];
const HEX = Buffer.from('0123456789ABCDEF', 'latin1');
/** 1: stands for itself wherever it is. */
const plain = new Uint8Array(256);
for (let byte = 33; byte < 127; byte++) plain[byte] = byte === EQUALS ? 0 : 1;
/** RFC 2045, 6.7: a line has 76 characters, the last of which may have to be the `=` of a soft break. */
const WIDTH = 75;

/**
 * Quoted-printable. Besides what must be encoded, a dot and the F of `From ` are where they begin a line: so no line needs
 * another dot on the wire, and no mailbox file a `>` that would break the signature.
 */
export function writeQuotedPrintable(out: Scratch, source: Buffer): void {
  const end = source.length;
  // At worst each byte takes three, and each line of 75 a soft break.
  const to = out.room(end * 3 + (Math.ceil((end * 3) / (WIDTH - 2)) + 1) * 3);
  let place = out.length;
  let column = 0;
  for (let at = 0; at < end; at++) {
    const byte = source[at] as number;
    const next = source[at + 1];
    if (byte === LF || (byte === CR && next === LF)) {
      if (byte === CR) at++;
      to[place++] = CR;
      to[place++] = LF;
      column = 0;
      continue;
    }
    let literal = plain[byte] === 1;
    if (byte === SPACE || byte === TAB)
      literal = next !== undefined && next !== LF && !(next === CR && source[at + 2] === LF);
    if (column + (literal ? 1 : 3) > WIDTH) {
      to[place++] = EQUALS;
      to[place++] = CR;
      to[place++] = LF;
      column = 0;
    }
    if (column === 0 && (byte === DOT || (byte === F && isFrom(source, at)))) literal = false;
    if (literal) {
      to[place++] = byte;
      column++;
    } else {
      to[place++] = EQUALS;
      to[place++] = HEX[byte >> 4] as number;
      to[place++] = HEX[byte & 15] as number;
      column += 3;
    }
  }
  out.length = place;
}

/** "rom " follows. */
const isFrom = (source: Buffer, at: number): boolean =>
  source[at + 1] === 114 && source[at + 2] === 111 && source[at + 3] === 109 && source[at + 4] === SPACE;
