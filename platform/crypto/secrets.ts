import { createHash } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';

/** Hashes random keys and tokens, for which one round suffices. A lookup by hash needs no constant-time comparison. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** argon2id with the defaults of the library (19 MiB, two passes), as OWASP recommends. */
export const hashPassword = (password: string): Promise<string> => hash(password);

export const verifyPassword = (stored: string, password: string): Promise<boolean> => verify(stored, password);
