import { timingSafeEqual } from 'node:crypto';
import type { SigningKeys } from '../../platform/crypto/cursor.ts';
import { hmacHex } from '../../platform/crypto/hmac.ts';

/** The header with the mail's signed id, which bounce and complaint reports quote. */
export const EMAIL_ID_HEADER = 'X-Everpost-Id';

const NOTHING = new Uint8Array();
const TOKEN = /^([0-9a-f]{32})-([0-9a-f]{20})$/;

/**
 * Returns the signed id of a mail for its envelope sender and header. The signature keeps others from forging bounces
 * that unsubscribe contacts. In hex, because some servers change the case of addresses.
 */
export function returnToken(keys: SigningKeys, emailId: string): string {
  const id = emailId.replaceAll('-', '');
  return `${id}-${signature(keys[0], id)}`;
}

/** Returns the mail's id, or undefined for an invalid token. */
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

/** The envelope sender, which receives bounces (RFC 5321). It contains the mail's token (VERP). */
export const returnPath = (token: string, bounceDomain: string): string => `${LOCAL_PART}${token}@${bounceDomain}`;

export function openReturnPath(keys: SigningKeys, address: string): string | undefined {
  const [local = ''] = address.trim().replace(/^</, '').split('@');
  return local.toLowerCase().startsWith(LOCAL_PART) ? openReturnToken(keys, local.slice(LOCAL_PART.length)) : undefined;
}
