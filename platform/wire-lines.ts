const [NUL, LF, CR, DOT] = [0, 10, 13, 46];
/** What `scan` finds, as bits. */
const [STRAY_BREAK, LEADING_DOT, NUL_BYTE] = [1, 2, 4];

/** RFC 2045, 2.7 and 2.8: text that is not encoded must not contain NUL, and servers differ in what they make of it. */
export class NulByteError extends Error {
  constructor() {
    super(
      'it contains a NUL byte, which no mail can carry; ' +
        'give the attachment a content type that is sent as base64, such as application/octet-stream',
    );
    this.name = 'NulByteError';
  }
}

/**
 * A message in which every line ends in CRLF, the last one too, and no CR or LF stands alone: servers that take a lone
 * one for a line end would see other headers, or another end of the message, than we do (SMTP smuggling). Throws a
 * NulByteError. To be done before signing, since the signature covers these bytes. Nearly always nothing is copied.
 */
export function withCrlfLines(raw: Buffer): Buffer {
  return crlfLines(raw, scan(raw));
}

/** The same, with dots doubled where they begin a line (RFC 5321, 4.5.2): the last step before the socket. */
export function readyForWire(raw: Buffer): Buffer {
  const found = scan(raw);
  if (found === 0) return raw;
  const message = crlfLines(raw, found);
  if (message === raw && (found & LEADING_DOT) === 0) return raw;
  const text = message.toString('latin1').replaceAll('\r\n.', '\r\n..');
  return Buffer.from(text.startsWith('.') ? `.${text}` : text, 'latin1');
}

function crlfLines(raw: Buffer, found: number): Buffer {
  if (found & NUL_BYTE) throw new NulByteError();
  if ((found & STRAY_BREAK) === 0) return raw;
  const text = raw.toString('latin1').replace(/\r\n?|\n/g, '\r\n');
  return Buffer.from(text.endsWith('\r\n') ? text : `${text}\r\n`, 'latin1');
}

/** One pass over the bytes, most of which need a single comparison: every mail of a campaign passes here. */
function scan(raw: Buffer): number {
  const { length } = raw;
  let found = raw[0] === DOT ? LEADING_DOT : 0;
  for (let at = 0; at < length; at++) {
    const byte = raw[at] ?? NUL;
    if (byte > CR) continue;
    if (byte === CR && raw[at + 1] === LF) {
      at++;
      if (raw[at + 1] === DOT) found |= LEADING_DOT;
    } else if (byte === CR || byte === LF) found |= STRAY_BREAK;
    else if (byte === NUL) found |= NUL_BYTE;
  }
  return length >= 2 && raw[length - 1] === LF ? found : found | STRAY_BREAK;
}
