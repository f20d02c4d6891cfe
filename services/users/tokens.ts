import type { Db } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
import { badRequest } from '../../platform/errors.ts';
import { randomText } from '../../platform/ids.ts';
import { hashToken } from '../../platform/secrets.ts';

export type TokenPurpose = 'VERIFY_EMAIL' | 'RESET_PASSWORD' | 'INVITATION';

export interface TokenOwner {
  userId: string;
  /** Of an invitation. */
  projectId: string | null;
}

export interface TokenUser {
  user: User;
  projectId: string | null;
}

const HOUR = 3_600_000;
const life: Record<TokenPurpose, number> = {
  VERIFY_EMAIL: 72 * HOUR,
  RESET_PASSWORD: HOUR,
  INVITATION: 7 * 24 * HOUR,
};

/** For a link in a mail; only its hash is kept. */
export async function issueToken(
  trx: Db,
  purpose: TokenPurpose,
  { userId, projectId = null }: { userId: string; projectId?: string | null },
): Promise<string> {
  const token = randomText(48);
  const expiresAt = new Date(Date.now() + life[purpose]);
  await trx('userTokens').insert({ tokenHash: hashToken(token), userId, projectId, purpose, expiresAt });
  return token;
}

const current = (db: Db, purpose: TokenPurpose, token: string) =>
  db('userTokens')
    .where({ tokenHash: hashToken(token), purpose })
    .where('expiresAt', '>', db.fn.now());

/** Whose it is, without using it up. */
export async function findToken(db: Db, purpose: TokenPurpose, token: string): Promise<TokenOwner> {
  const found = await current(db, purpose, token).first<TokenOwner | undefined>('userId', 'projectId');
  if (!found) throw uselessToken();
  return found;
}

/** The user of a token and the project of an invitation, without using it up. */
export async function findTokenUser(db: Db, purpose: TokenPurpose, token: string): Promise<TokenUser> {
  const { userId, projectId } = await findToken(db, purpose, token);
  const user = await User.query(db).findById(userId);
  if (!user) throw uselessToken();
  return { user, projectId };
}

/** The same with the user locked, as `useToken` wants it. Reads again what may have changed while it waited. */
export async function lockTokenUser(trx: Db, purpose: TokenPurpose, token: string): Promise<TokenUser> {
  const { userId } = await findToken(trx, purpose, token);
  await User.query(trx).findById(userId).forNoKeyUpdate();
  return findTokenUser(trx, purpose, token);
}

/**
 * Uses it up: of two that come at once, one gets it. Call it with the user locked: a password change locks the user and
 * then removes the tokens, and the other order would deadlock with it.
 */
export async function useToken(trx: Db, purpose: TokenPurpose, token: string): Promise<void> {
  if ((await current(trx, purpose, token).del()) === 0) throw uselessToken();
}

/** Without purposes: all of them. */
export async function revokeTokens(trx: Db, userId: string, ...purposes: TokenPurpose[]): Promise<void> {
  const tokens = trx('userTokens').where({ userId });
  await (purposes.length > 0 ? tokens.whereIn('purpose', purposes) : tokens).del();
}

/** Which of the three it is would tell a stranger something. */
const uselessToken = () =>
  badRequest('This token is used up, has expired, or never was one.', {
    suggestion: 'Ask for a new link; each works once, and for a while.',
  });
