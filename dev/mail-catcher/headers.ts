// Parses the headers of a message without its body: all that lists and most searches need.
import { addressParser, decodeWords } from 'postal-mime';

export interface Mailbox {
  Name: string;
  Address: string;
}

export type HeaderList = [name: string, value: string][];

export function headersOf(raw: Buffer): HeaderList {
  const end = /\r?\n\r?\n/.exec(raw.toString('latin1', 0, Math.min(raw.length, 256 * 1024)))?.index ?? raw.length;
  const lines = raw.toString('utf8', 0, end).split(/\r?\n/);
  const headers: HeaderList = [];
  for (const line of lines) {
    const last = headers.at(-1);
    const colon = line.indexOf(':');
    // RFC 5322, 2.2.3: a line that starts with white space continues the previous one.
    if (/^[ \t]/.test(line)) {
      if (last) last[1] = `${last[1]} ${line.trim()}`;
    } else if (colon > 0) headers.push([line.slice(0, colon).trim(), line.slice(colon + 1).trim()]);
  }
  return headers;
}

export const headerValue = (headers: HeaderList, name: string): string | undefined =>
  headers.find(([one]) => one.toLowerCase() === name)?.[1];

export const decodedHeader = (headers: HeaderList, name: string): string =>
  decodeWords(headerValue(headers, name) ?? '');

export const mailboxesOf = (headers: HeaderList, name: string): Mailbox[] =>
  addressParser(headerValue(headers, name) ?? '', { flatten: true }).map(({ name: shown, address }) => ({
    Name: decodeWords(shown),
    Address: address ?? '',
  }));

/**
 * Mailpit is written in Go and returns canonical names (`Message-Id`). Scripts often use the usual spelling
 * (`Message-ID`); where the two differ, both are returned.
 */
export function headersByName(headers: HeaderList): Record<string, string[]> {
  const byName: Record<string, string[]> = Object.create(null);
  for (const [name, value] of headers) {
    for (const spelling of new Set([canonical(name), name])) {
      byName[spelling] ??= [];
      byName[spelling].push(value);
    }
  }
  return byName;
}

const canonical = (name: string): string => name.toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
