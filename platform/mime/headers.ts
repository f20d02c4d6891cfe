import { domainToASCII } from 'node:url';

/** RFC 5322, 2.1.1: at most 998 characters, and 78 as recommended limit. */
const LINE_WIDTH = 76;
const MAX_TOKEN_LENGTH = 500;
/** Bytes of an encoded word that, with `Subject: `, `=?UTF-8?B?` and `?=`, fills a line. */
const MAX_WORD_BYTES = 39;

const PRINTABLE = /^[\x20-\x7e]*$/;
const ATOMS = /^[\w!#$%&'*+\-/=?^`{|}~ ]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const CONTROLS = /[\x00-\x1f\x7f\u2028\u2029]+/g;

/** Replaces control characters: a line break in a value would start another header. */
export const toSingleLine = (value: string): string => value.replace(CONTROLS, ' ').trim();

export const isPrintable = (value: string): boolean => PRINTABLE.test(value);

/** Writes a header with a structured ASCII value, folded but not encoded. */
export const structuredHeader = (name: string, value: string): string => fold(`${name}: ${value}`);

/** Writes a header with free text (Subject), encoded where it is not ASCII (RFC 2047). */
export function textHeader(name: string, value: string): string {
  const line = toSingleLine(value);
  if (isPrintable(line) && !line.includes('=?') && !hasLongToken(line)) return fold(`${name}: ${line}`);
  const separator = name.length > 12 ? '\r\n ' : ' ';
  return `${name}:${separator}${encodedWords(line)}\r\n`;
}

/** Writes `Name <a@b>`. The address must come from `simpleAddress`. */
export function addressHeader(name: string, address: string, displayName: string | null | undefined): string {
  const shown = displayName ? toSingleLine(displayName) : '';
  if (shown === '') return `${name}: ${address}\r\n`;
  return fold(`${name}: ${phrase(shown)} <${address}>`);
}

function phrase(text: string): string {
  if (!isPrintable(text) || text.includes('=?') || hasLongToken(text)) return encodedWords(text);
  return ATOMS.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`;
}

const hasLongToken = (text: string): boolean =>
  text.length > MAX_TOKEN_LENGTH && text.split(' ').some((token) => token.length > MAX_TOKEN_LENGTH);

/** RFC 2047, 5: a character must not be split over two encoded words. */
function encodedWords(text: string): string {
  const words: string[] = [];
  let chunk = '';
  let bytes = 0;
  for (const character of text) {
    const size = Buffer.byteLength(character);
    if (bytes + size > MAX_WORD_BYTES) {
      words.push(chunk);
      chunk = '';
      bytes = 0;
    }
    chunk += character;
    bytes += size;
  }
  words.push(chunk);
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join('\r\n ');
}

/** Breaks before spaces, but not before the first: some parsers cannot read a header name alone on its line. */
function fold(line: string): string {
  if (line.length <= LINE_WIDTH) return `${line}\r\n`;
  const [first = '', ...rest] = line.split(/(?=(?<=[^ ]) +[^ ])/);
  let out = first;
  let column = first.length;
  let tokens = 0;
  let last = first;
  for (const piece of rest) {
    // Tests the last piece, because reading `out` would flatten the whole string each time.
    const breaks = tokens++ > 0 && column + piece.length > LINE_WIDTH && !last.endsWith(':');
    last = piece;
    // An encoded phrase already contains line breaks.
    const lastBreak = piece.lastIndexOf('\n');
    out += breaks ? `\r\n${piece}` : piece;
    column = lastBreak >= 0 ? piece.length - lastBreak - 1 : breaks ? piece.length : column + piece.length;
  }
  return `${out}\r\n`;
}

const DOT_ATOM = /^[\w!#$%&'*+\-/=?^`{|}~]+(?:\.[\w!#$%&'*+\-/=?^`{|}~]+)*$/;

/** Returns a dot-atom address with its domain in ASCII, or undefined for an address of another form. */
export function simpleAddress(address: string): string | undefined {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  if (at < 1 || !DOT_ATOM.test(local)) return undefined;
  if (DOMAIN.test(domain)) return address;
  const ascii = domainToASCII(domain);
  return DOMAIN.test(ascii) ? `${local}@${ascii}` : undefined;
}

const DOMAIN = /^[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*$/;
