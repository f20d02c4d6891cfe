/** A composed message with its envelope, ready for SMTP. */
export interface SmtpMessage {
  from: string;
  to: string;
  /** Whether an address needs SMTPUTF8 (RFC 6531). */
  utf8: boolean;
  /** Headers and body, lines ending in CRLF. */
  raw: Buffer;
  /** `toSmtpData` would change nothing: each of its parts was checked before they were put together. */
  isSmtpData?: true;
}

const DOT = 46;
/** Findings of `scan`, as bits. */
const STRAY_BREAK = 1;
const LEADING_DOT = 2;
const NUL_BYTE = 4;

/** RFC 2045, 2.7 and 2.8: unencoded text must not contain NUL, and servers differ in how they treat it. */
export class NulByteError extends Error {
  constructor() {
    super(
      'it contains a NUL byte, which email cannot carry; ' +
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
  return crlfLines(raw, scan(raw.toString('latin1')));
}

/** Whether `toSmtpData` leaves these lines as they are. */
export const isSmtpData = (lines: string): boolean => scan(lines) === 0;

/** Normalises line ends and doubles dots at line starts (RFC 5321, 4.5.2): the last step before the socket. */
export function toSmtpData(raw: Buffer): Buffer {
  const found = scan(raw.toString('latin1'));
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

/** Searches for line ends, which takes a third of the time of looking at every byte: most mail is scanned. */
function scan(text: string): number {
  let found = (text.startsWith('.') ? LEADING_DOT : 0) | (text.includes('\0') ? NUL_BYTE : 0);
  let start = 0;
  for (;;) {
    const cr = text.indexOf('\r', start);
    const lf = text.indexOf('\n', start);
    if (cr < 0 && lf < 0) break;
    // The dots of such a message are looked for again, when its line ends are right.
    if (cr < 0 || lf !== cr + 1) return found | STRAY_BREAK;
    start = lf + 1;
    if (text.charCodeAt(start) === DOT) found |= LEADING_DOT;
  }
  return text.length > 0 && start === text.length ? found : found | STRAY_BREAK;
}
