import { createHash } from 'node:crypto';

/** Hashes random keys and tokens, for which one round suffices. A lookup by hash needs no constant-time comparison. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Loads the native library with the first password: workers and most commands handle none. */
const argon2 = () => import('@node-rs/argon2');

/** argon2id with the defaults of the library (19 MiB, two passes), as OWASP recommends. */
export const hashPassword = async (password: string): Promise<string> => (await argon2()).hash(password);

export const verifyPassword = async (stored: string, password: string): Promise<boolean> =>
  (await argon2()).verify(stored, password);
