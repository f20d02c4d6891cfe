/** A composed message with its envelope, ready for SMTP. */
export interface SmtpMessage {
  from: string;
  to: string;
  /** Whether an address needs SMTPUTF8 (RFC 6531). */
  utf8: boolean;
  /** Headers and body, lines ending in CRLF. */
  raw: Buffer;
}

const [NUL, LF, CR, DOT] = [0, 10, 13, 46];
/** Findings of `scan`, as bits. */
const [STRAY_BREAK, LEADING_DOT, NUL_BYTE] = [1, 2, 4];

/** RFC 2045, 2.7 and 2.8: unencoded text must not contain NUL, and servers differ in how they treat it. */
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
 * Ends every line in CRLF, including the last, and replaces lone CR and LF: servers that read a lone one as a line end
 * would see other headers or another end of the message (SMTP smuggling). Must run before signing, because the signature
 * covers these bytes. Returns `raw` itself when nothing has to change. Throws a NulByteError.
 */
export function withCrlfLines(raw: Buffer): Buffer {
  return crlfLines(raw, scan(raw));
}

/** Normalises line ends and doubles dots at line starts (RFC 5321, 4.5.2): the last step before the socket. */
export function toSmtpData(raw: Buffer): Buffer {
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

/** A single pass, with one comparison for most bytes: every mail of a campaign is scanned. */
function scan(raw: Buffer): number {
  const { length } = raw;
  let found = raw[0] === DOT ? LEADING_DOT : 0;
  for (let index = 0; index < length; index++) {
    const byte = raw[index] ?? NUL;
    if (byte > CR) continue;
    if (byte === CR && raw[index + 1] === LF) {
      index++;
      if (raw[index + 1] === DOT) found |= LEADING_DOT;
    } else if (byte === CR || byte === LF) found |= STRAY_BREAK;
    else if (byte === NUL) found |= NUL_BYTE;
  }
  return length >= 2 && raw[length - 1] === LF ? found : found | STRAY_BREAK;
}
