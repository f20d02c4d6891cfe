import { timingSafeEqual } from 'node:crypto';
import { type SigningKeys, signature } from '../../platform/crypto/signed-token.ts';

/** The header with the mail's signed id, which bounce and complaint reports quote. */
export const EMAIL_ID_HEADER = 'X-Everpost-Id';

const TOKEN = /^([0-9a-f]{32})-([0-9a-f]{20})$/;

/**
 * Returns the signed id of a mail for its envelope sender and header. The signature keeps others from forging bounces
 * that unsubscribe contacts. In hex, because some servers change the case of addresses.
 */
export function returnToken(keys: SigningKeys, emailId: string): string {
  const id = emailId.replaceAll('-', '');
  return `${id}-${shortSignature(keys[0], id)}`;
}

/** Returns the mail's id, or undefined for an invalid token. */
export function openReturnToken(keys: SigningKeys, token: string): string | undefined {
  const [, id, signed] = TOKEN.exec(token.trim().toLowerCase()) ?? [];
  if (!id || !signed) return undefined;
  const given = Buffer.from(signed);
  if (!keys.some((key) => timingSafeEqual(Buffer.from(shortSignature(key, id)), given))) return undefined;
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** A whole token would exceed the 64 characters of a local part (RFC 5321). */
const shortSignature = (key: string, id: string): string => signature(key, 'return', id).toString('hex').slice(0, 20);

const LOCAL_PART = 'b-';

/** The envelope sender, which receives bounces (RFC 5321). It contains the mail's token (VERP). */
export const returnPath = (token: string, bounceDomain: string): string => `${LOCAL_PART}${token}@${bounceDomain}`;

export function openReturnPath(keys: SigningKeys, address: string): string | undefined {
  const [local = ''] = address.trim().replace(/^</, '').split('@');
  return local.toLowerCase().startsWith(LOCAL_PART) ? openReturnToken(keys, local.slice(LOCAL_PART.length)) : undefined;
}
