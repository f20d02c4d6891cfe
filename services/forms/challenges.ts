// Proofs of work, without a third party: a signed token, and a nonce that binds it to one form and one address.
import { createHash, randomBytes } from 'node:crypto';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { openToken, type SigningKeys, signToken } from '../../platform/crypto/signed-token.ts';

const CHALLENGE = 'form challenge';
export const CHALLENGE_MS = 10 * 60_000;
const ID_BYTES = 16;
const TIME_BYTES = 6;
const RANDOM_BYTES = 8;
const LENGTH = ID_BYTES + TIME_BYTES + 1 + RANDOM_BYTES;

export interface Challenge {
  token: string;
  difficulty: number;
  expiresAt: Date;
}

/** Zero bits, at least and at most: a phone needs seconds for the second, not minutes. */
export const DIFFICULTY = { min: 15, max: 19 } as const;

export function createChallenge(keys: SigningKeys, formId: string, difficulty: number, now = Date.now()): Challenge {
  const content = Buffer.alloc(LENGTH);
  content.write(formId.replaceAll('-', ''), 'hex');
  content.writeUIntBE(now, ID_BYTES, TIME_BYTES);
  content.writeUInt8(difficulty, ID_BYTES + TIME_BYTES);
  randomBytes(RANDOM_BYTES).copy(content, LENGTH - RANDOM_BYTES);
  return { token: signToken(keys, CHALLENGE, content), difficulty, expiresAt: new Date(now + CHALLENGE_MS) };
}

export interface OpenedChallenge {
  /** When the token was made: the time of rendering. */
  issuedAt: number;
  difficulty: number;
}

/** Undefined for a token that is not ours, of another form, or expired. */
export function openChallenge(
  keys: SigningKeys,
  formId: string,
  token: string,
  now = Date.now(),
): OpenedChallenge | undefined {
  const content = openToken(keys, CHALLENGE, token);
  if (content?.length !== LENGTH) return undefined;
  if (content.toString('hex', 0, ID_BYTES) !== formId.replaceAll('-', '')) return undefined;
  const issuedAt = content.readUIntBE(ID_BYTES, TIME_BYTES);
  if (issuedAt > now + 1_000 || now - issuedAt > CHALLENGE_MS) return undefined;
  return { issuedAt, difficulty: content.readUInt8(ID_BYTES + TIME_BYTES) };
}

/** Whether the nonce is the work for this token, form and address. */
export function isProof(
  { token, nonce, formId, email }: { token: string; nonce: string; formId: string; email: string },
  difficulty: number,
): boolean {
  const hash = createHash('sha256').update(`${token}:${formId}:${email}:${nonce}`).digest();
  return leadingZeros(hash) >= difficulty;
}

function leadingZeros(bytes: Uint8Array): number {
  let zeros = 0;
  for (const byte of bytes) {
    if (byte !== 0) return zeros + Math.clz32(byte) - 24;
    zeros += 8;
  }
  return zeros;
}

const use = statement(
  'challenge-use',
  `insert into form_challenges_used (hash, expires_at) values ($1, now() + interval '20 minutes') on conflict do nothing`,
);
const isUsed = statement('challenge-used', 'select from form_challenges_used where hash = $1');
const sweep = statement('challenges-sweep', 'delete from form_challenges_used where expires_at < now()');

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Uses a token up; false where it was used before. */
export const useChallenge = async (db: Db, token: string): Promise<boolean> =>
  (await use.count(db, [hashOf(token)])) === 1;

export const isChallengeUsed = async (db: Db, token: string): Promise<boolean> =>
  (await isUsed.count(db, [hashOf(token)])) > 0;

/** Removes what expired tokens have left. */
export const sweepChallenges = (db: Db): Promise<number> => sweep.count(db);
