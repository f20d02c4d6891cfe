import { domainToASCII } from 'node:url';

/** Longer lines are allowed up to 998 characters (RFC 5322, 2.1.1), but not asked for. */
const WIDTH = 76;
const LONGEST_TOKEN = 500;
/** Of an encoded word: with `Subject: ` before it and `=?UTF-8?B?` and `?=` around it, it fills a line. */
const WORD_BYTES = 39;

const PRINTABLE = /^[\x20-\x7e]*$/;
const ATOMS = /^[\w!#$%&'*+\-/=?^`{|}~ ]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
const CONTROLS = /[\x00-\x1f\x7f\u2028\u2029]+/g;

/** No value may begin a line of its own. */
export const onOneLine = (value: string): string => value.replace(CONTROLS, ' ').trim();

export const isPrintable = (value: string): boolean => PRINTABLE.test(value);

/** A header whose value means something to programs and is ASCII: only folded. */
export const structuredHeader = (name: string, value: string): string => folded(`${name}: ${value}`);

/** A header that people read (Subject): encoded where it is not ASCII (RFC 2047). */
export function textHeader(name: string, value: string): string {
  const line = onOneLine(value);
  if (isPrintable(line) && !line.includes('=?') && !hasLongToken(line)) return folded(`${name}: ${line}`);
  const before = name.length > 12 ? '\r\n ' : ' ';
  return `${name}:${before}${encodedWords(line)}\r\n`;
}

/** `Name <a@b>`; the address is known to be harmless. */
export function addressHeader(name: string, address: string, displayed: string | null | undefined): string {
  const shown = displayed ? onOneLine(displayed) : '';
  if (shown === '') return `${name}: ${address}\r\n`;
  return folded(`${name}: ${phrase(shown)} <${address}>`);
}

function phrase(text: string): string {
  if (!isPrintable(text) || text.includes('=?') || hasLongToken(text)) return encodedWords(text);
  return ATOMS.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`;
}

const hasLongToken = (text: string): boolean =>
  text.length > LONGEST_TOKEN && text.split(' ').some((token) => token.length > LONGEST_TOKEN);

/** Each word has whole characters, so that each can be read by itself. */
function encodedWords(text: string): string {
  const words: string[] = [];
  let chunk = '';
  let bytes = 0;
  for (const character of text) {
    const size = Buffer.byteLength(character);
    if (bytes + size > WORD_BYTES) {
      words.push(chunk);
      [chunk, bytes] = ['', 0];
    }
    chunk += character;
    bytes += size;
  }
  words.push(chunk);
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join('\r\n ');
}

/** Breaks before a space, never at the first one: that a name stands alone on its line confuses some readers. */
function folded(line: string): string {
  if (line.length <= WIDTH) return `${line}\r\n`;
  const [first = '', ...rest] = line.split(/(?=(?<=[^ ]) +[^ ])/);
  let out = first;
  let column = first.length;
  let tokens = 0;
  let last = first;
  for (const piece of rest) {
    // Asks the last piece and not `out`, which would be copied as a whole for it each time.
    const ready = tokens++ > 0 && column + piece.length > WIDTH && !last.endsWith(':');
    last = piece;
    // An encoded phrase brings its own breaks.
    const lastBreak = piece.lastIndexOf('\n');
    out += ready ? `\r\n${piece}` : piece;
    column = lastBreak >= 0 ? piece.length - lastBreak - 1 : ready ? piece.length : column + piece.length;
  }
  return `${out}\r\n`;
}

const DOT_ATOM = /^[\w!#$%&'*+\-/=?^`{|}~]+(?:\.[\w!#$%&'*+\-/=?^`{|}~]+)*$/;

/** The address as mail servers write it; undefined for any that needs more thought than this. */
export function simpleAddress(address: string): string | undefined {
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  if (at < 1 || !DOT_ATOM.test(local)) return undefined;
  if (DOMAIN.test(domain)) return address;
  const ascii = domainToASCII(domain);
  return DOMAIN.test(ascii) ? `${local}@${ascii}` : undefined;
}

const DOMAIN = /^[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*$/;
