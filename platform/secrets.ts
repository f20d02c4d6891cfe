import { createHash } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';

/** For keys and tokens of full random strength: one round is enough, and a lookup by hash compares nothing secret. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** argon2id with the library's defaults (19 MiB, two passes), as OWASP advises. */
export const hashPassword = (password: string): Promise<string> => hash(password);

export const verifyPassword = (stored: string, password: string): Promise<boolean> => verify(stored, password);
