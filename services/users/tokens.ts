import type { Db } from '../../db/connect.ts';
import { User, UserToken } from '../../db/models/user.ts';
import { statement } from '../../db/statement.ts';
import { hashToken } from '../../platform/crypto/secrets.ts';
import { badRequest } from '../../platform/errors.ts';
import { randomText } from '../../platform/ids.ts';

export type TokenPurpose = 'VERIFY_EMAIL' | 'RESET_PASSWORD' | 'INVITATION' | 'LOGIN_LINK';

export interface TokenOwner {
  userId: string;
  /** The project of an invitation. */
  projectId: string | null;
}

export interface TokenUser {
  user: User;
  projectId: string | null;
}

const HOUR = 3_600_000;
const lifetimes: Record<TokenPurpose, number> = {
  VERIFY_EMAIL: 72 * HOUR,
  RESET_PASSWORD: HOUR,
  INVITATION: 7 * 24 * HOUR,
  LOGIN_LINK: HOUR / 6,
};

/** Issues a token for a mailed link; stores only its hash. */
export async function issueToken(
  trx: Db,
  purpose: TokenPurpose,
  { userId, projectId = null }: { userId: string; projectId?: string | null },
): Promise<string> {
  const token = randomText(48);
  const expiresAt = new Date(Date.now() + lifetimes[purpose]);
  await UserToken.query(trx).insert({ tokenHash: hashToken(token), userId, projectId, purpose, expiresAt });
  return token;
}

const VALID = 'token_hash = $1 and purpose = $2 and expires_at > now()';
const find = statement<TokenOwner>('token-find', `select user_id, project_id from user_tokens where ${VALID}`);
const use = statement('token-use', `delete from user_tokens where ${VALID}`);

/** Returns the owner of a valid token without using it. */
export async function findToken(db: Db, purpose: TokenPurpose, token: string): Promise<TokenOwner> {
  const [found] = await find(db, [hashToken(token), purpose]);
  if (!found) throw invalidToken();
  return found;
}

/** Returns the user of a token and the project of an invitation without using the token. */
export async function findTokenUser(db: Db, purpose: TokenPurpose, token: string): Promise<TokenUser> {
  const { userId, projectId } = await findToken(db, purpose, token);
  const user = await User.query(db).findById(userId);
  if (!user) throw invalidToken();
  return { user, projectId };
}

/** Locks the user, as `useToken` requires, then reads the token again: it may have changed during the wait. */
export async function lockTokenUser(trx: Db, purpose: TokenPurpose, token: string): Promise<TokenUser> {
  const { userId } = await findToken(trx, purpose, token);
  await User.query(trx).findById(userId).forNoKeyUpdate();
  return findTokenUser(trx, purpose, token);
}

/**
 * Uses the token; of two concurrent calls one succeeds. The user must be locked: a password change locks the user and
 * then removes the tokens, and the reverse order would deadlock.
 */
export async function useToken(trx: Db, purpose: TokenPurpose, token: string): Promise<void> {
  if ((await use.count(trx, [hashToken(token), purpose])) === 0) throw invalidToken();
}

/** Revokes the user's tokens of these purposes; without purposes, of all. */
export async function revokeTokens(trx: Db, userId: string, ...purposes: TokenPurpose[]): Promise<void> {
  const tokens = UserToken.query(trx).where({ userId }).delete();
  await (purposes.length > 0 ? tokens.whereIn('purpose', purposes) : tokens);
}

/** One message for all three cases: different messages would inform an attacker. */
const invalidToken = () =>
  badRequest('This token is invalid, has expired or was already used.', {
    suggestion: 'Request a new link. Each link works once and expires.',
  });
