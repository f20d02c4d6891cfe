import { timingSafeEqual } from 'node:crypto';
import type { SigningKeys } from '../../platform/cursor.ts';
import { hmacHex } from '../../platform/hmac.ts';

/** Says in every mail which one it is; whoever returns it, or tells us of it, gives it back. */
export const MARK_HEADER = 'X-Everpost-Id';

const NOTHING = new Uint8Array();
const TOKEN = /^([0-9a-f]{32})-([0-9a-f]{20})$/;

/**
 * The id of a mail, signed, for its envelope and its head: nobody else can make one up and have somebody unsubscribed.
 * In hex, because not everybody on the way keeps upper and lower case of an address.
 */
export function returnToken(keys: SigningKeys, emailId: string): string {
  const id = emailId.replaceAll('-', '');
  return `${id}-${signature(keys[0], id)}`;
}

/** The mail that a token stands for; undefined for what is not ours. */
export function openReturnToken(keys: SigningKeys, token: string): string | undefined {
  const [, id, signed] = TOKEN.exec(token.trim().toLowerCase()) ?? [];
  if (!id || !signed) return undefined;
  const given = Buffer.from(signed);
  if (!keys.some((key) => timingSafeEqual(Buffer.from(signature(key, id)), given))) return undefined;
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function signature(key: string, id: string): string {
  return hmacHex(key, `return\0${id}`, NOTHING).slice(0, 20);
}

const LOCAL_PART = 'b-';

/** RFC 5321 bounces go to the envelope's sender; this one says which mail has come back (VERP). */
export const returnPath = (token: string, bounceDomain: string): string => `${LOCAL_PART}${token}@${bounceDomain}`;

export function openReturnPath(keys: SigningKeys, address: string): string | undefined {
  const [local = ''] = address.trim().replace(/^</, '').split('@');
  return local.toLowerCase().startsWith(LOCAL_PART) ? openReturnToken(keys, local.slice(LOCAL_PART.length)) : undefined;
}
