import { createHmac, timingSafeEqual } from 'node:crypto';
import { badRequest } from './errors.ts';

/** As the settings give them: the first signs, all are accepted. */
export type SigningKeys = readonly [string, ...string[]];

const SIGNATURE_BYTES = 16;

/**
 * A place in a list, for the client to bring back: unreadable to it by agreement, unchangeable by the signature.
 * `boundTo` (project, list, order) is signed but not part of it, so it opens nothing anywhere else.
 */
export function signCursor(keys: SigningKeys, boundTo: string[], place: unknown): string {
  const text = Buffer.from(JSON.stringify(place)).toString('base64url');
  return `${text}.${signature(keys[0], boundTo, text).toString('base64url')}`;
}

/** What `signCursor` was given; whoever signed it knows its type. */
export function openCursor(keys: SigningKeys, boundTo: string[], cursor: string): unknown {
  const [text = '', given = '', ...rest] = cursor.split('.');
  const signed = Buffer.from(given, 'base64url');
  const genuine =
    rest.length === 0 &&
    signed.length === SIGNATURE_BYTES &&
    keys.some((key) => timingSafeEqual(signature(key, boundTo, text), signed));
  if (!genuine) throw badRequest('This cursor is not one of ours, or belongs to another list, order or project.');
  return JSON.parse(Buffer.from(text, 'base64url').toString());
}

function signature(key: string, boundTo: string[], text: string): Buffer {
  const signed = JSON.stringify(['cursor', ...boundTo, text]);
  return createHmac('sha256', key).update(signed).digest().subarray(0, SIGNATURE_BYTES);
}
