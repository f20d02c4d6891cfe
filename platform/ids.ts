import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';

/** Returns a UUIDv7: ids sort by time, so that indexes grow at one end. */
export const newId = (): string => uuidv7();

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
