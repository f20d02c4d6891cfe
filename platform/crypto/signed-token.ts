import { createHmac, timingSafeEqual } from 'node:crypto';

/** The keys of SECRET_KEY: the first signs, all verify. */
export type SigningKeys = readonly [string, ...string[]];

const SIGNATURE_BYTES = 16;
/** Bounds the work for forged tokens; longer than any URL of ours. */
const MAX_LENGTH = 8_192;

/**
 * Signs `content` as a short token for URLs. The content is readable but cannot be changed. The token opens only for the
 * same `purpose` (a text without NUL), so that a page token is not valid for counting a click.
 */
export function signToken(keys: SigningKeys, purpose: string, content: string | Uint8Array): string {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([bytes, signature(keys[0], purpose, bytes)]).toString('base64url');
}

/** Returns the signed content, or undefined for a token that none of the keys signed for this purpose. */
export function openToken(keys: SigningKeys, purpose: string, token: string): Buffer | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  // Node ignores characters outside of base64url; accepts only the canonical encoding.
  if (bytes.length < SIGNATURE_BYTES || bytes.toString('base64url') !== token) return undefined;
  const content = bytes.subarray(0, -SIGNATURE_BYTES);
  const claimed = bytes.subarray(-SIGNATURE_BYTES);
  return keys.some((key) => timingSafeEqual(signature(key, purpose, content), claimed)) ? content : undefined;
}

/** Returns the signature alone, for places that are too short for a token. */
export function signature(key: string, purpose: string, content: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(`token\0${purpose}\0`).update(content).digest().subarray(0, SIGNATURE_BYTES);
}
