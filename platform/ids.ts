import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';

/** Ids are UUIDv7: they sort by time, so indexes on them grow at one end. */
export const newId = (): string => uuidv7();

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** `length` random letters and digits, without the bias of a plain modulo. */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length)
    for (const byte of randomBytes(length * 2)) if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
  return text;
}
