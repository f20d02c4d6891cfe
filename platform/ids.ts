import { createHash, randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';

/** Returns a UUIDv7: ids sort by time, so that indexes grow at one end. */
export const newId = (): string => uuidv7();

/** Returns a UUIDv8 that is the same for the same text. */
export function uuidFrom(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Returns random letters and digits. Rejects bytes from 248 up to avoid modulo bias. */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length)
    for (const byte of randomBytes(length * 2)) if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
  return text;
}

/** Below every id: where pages in the order of ids begin. */
export const LOWEST_ID = '00000000-0000-0000-0000-000000000000';
