import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { SigningKeys } from './signed-token.ts';

const VERSION = 'v1';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A stored secret cannot be decrypted. The message never contains the secret. */
export class SealError extends Error {
  override name = 'SealError';
}

/**
 * Encrypts a small secret for the database (AES-256-GCM): `v1.<key id>.<iv, text and tag>`. The first key seals, all
 * unseal. `boundTo` names the owner of the secret (`dkim`, the domain's id): moved to another row, it no longer opens.
 */
export function seal(keys: SigningKeys, boundTo: string[], secret: string): string {
  const key = keyFrom(keys[0]);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.bytes, iv);
  cipher.setAAD(associatedData(boundTo));
  const sealed = Buffer.concat([iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return [VERSION, key.id, sealed.toString('base64url')].join('.');
}

export function unseal(keys: SigningKeys, boundTo: string[], sealed: string): string {
  const [version, keyId, text, ...rest] = sealed.split('.');
  const bytes = Buffer.from(text ?? '', 'base64url');
  if (version !== VERSION || rest.length > 0 || bytes.length < IV_BYTES + TAG_BYTES)
    throw new SealError('A stored secret is not in a form that this version can open.');
  const key = keys.map(keyFrom).find(({ id }) => id === keyId);
  if (!key)
    throw new SealError(
      'A stored secret was sealed with a key that SECRET_KEY no longer has. Append it to the list (SECRET_KEY=new,old) and restart.',
    );
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, IV_BYTES));
  decipher.setAAD(associatedData(boundTo));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8');
  } catch {
    throw new SealError('A stored secret has been changed, or moved from where it belongs.');
  }
}

/** Returns the prefix of all secrets sealed with the first key. Secrets with another prefix should be sealed again. */
export const currentSealPrefix = (keys: SigningKeys): string => prefixOf(keys[0]);

/** Returns the prefixes of secrets that one of the keys opens. */
export const sealPrefixes = (keys: SigningKeys): string[] => keys.map(prefixOf);

const prefixOf = (secret: string): string => `${VERSION}.${keyFrom(secret).id}.`;

const associatedData = (boundTo: string[]) => Buffer.from(JSON.stringify(['sealed', ...boundTo]));

interface SealingKey {
  id: string;
  bytes: Buffer;
}

const derivedKeys = new Map<string, SealingKey>();

/** Derives the encryption key. Its id identifies the key without revealing it. */
function keyFrom(secret: string): SealingKey {
  const cached = derivedKeys.get(secret);
  if (cached) return cached;
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'everpost sealed secrets v1', 32));
  const key = { id: createHash('sha256').update('id').update(bytes).digest('base64url').slice(0, 8), bytes };
  derivedKeys.set(secret, key);
  return key;
}
