import { createHmac, timingSafeEqual } from 'node:crypto';
import { badRequest } from '../errors.ts';

/** The keys of SECRET_KEY: the first signs, all verify. */
export type SigningKeys = readonly [string, ...string[]];

const SIGNATURE_BYTES = 16;

/**
 * Encodes a position in a list, signed against changes. `boundTo` (project, list, order) is signed but not included, so
 * the cursor opens only in the same list.
 */
export function signCursor(keys: SigningKeys, boundTo: string[], position: unknown): string {
  const text = Buffer.from(JSON.stringify(position)).toString('base64url');
  return `${text}.${signature(keys[0], boundTo, text).toString('base64url')}`;
}

/** Returns the position given to `signCursor`. Throws a 400 for a cursor that was not signed for this list. */
export function openCursor(keys: SigningKeys, boundTo: string[], cursor: string): unknown {
  const [text = '', encodedSignature = '', ...rest] = cursor.split('.');
  const claimed = Buffer.from(encodedSignature, 'base64url');
  const genuine =
    rest.length === 0 &&
    claimed.length === SIGNATURE_BYTES &&
    keys.some((key) => timingSafeEqual(signature(key, boundTo, text), claimed));
  if (!genuine) throw badRequest('This cursor is not one of ours, or belongs to another list, order or project.');
  return JSON.parse(Buffer.from(text, 'base64url').toString());
}

function signature(key: string, boundTo: string[], text: string): Buffer {
  const signed = JSON.stringify(['cursor', ...boundTo, text]);
  return createHmac('sha256', key).update(signed).digest().subarray(0, SIGNATURE_BYTES);
}
