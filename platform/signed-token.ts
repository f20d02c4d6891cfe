import { timingSafeEqual } from 'node:crypto';
import type { SigningKeys } from './cursor.ts';
import { hmacHex } from './hmac.ts';

const SIGNATURE_BYTES = 16;
/** Longer than any address that goes around; whatever is longer is not looked at. */
const MAX_LENGTH = 8_192;

/**
 * A short text for an address, which says `content` to us alone to change. It can be read by whoever has it, and opens
 * only for the same purpose (a name of ours, without NUL): what shows a page is worth nothing where a click is counted.
 */
export function signToken(keys: SigningKeys, purpose: string, content: string | Uint8Array): string {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([bytes, signature(keys[0], purpose, bytes)]).toString('base64url');
}

/** What was signed, by any of the keys; undefined for everything that we have not made for this purpose. */
export function openToken(keys: SigningKeys, purpose: string, token: string): Buffer | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  // Node reads over what is not base64url; of each token there shall be one spelling.
  if (bytes.length < SIGNATURE_BYTES || bytes.toString('base64url') !== token) return undefined;
  const content = bytes.subarray(0, -SIGNATURE_BYTES);
  const given = bytes.subarray(-SIGNATURE_BYTES);
  return keys.some((key) => timingSafeEqual(signature(key, purpose, content), given)) ? content : undefined;
}

function signature(key: string, purpose: string, content: Uint8Array): Buffer {
  return Buffer.from(hmacHex(key, `token\0${purpose}\0`, content).slice(0, SIGNATURE_BYTES * 2), 'hex');
}
