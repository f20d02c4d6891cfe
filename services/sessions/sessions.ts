import { type Db, inTransaction } from '../../db/connect.ts';
import { Session } from '../../db/models/session.ts';
import { User } from '../../db/models/user.ts';
import { hashToken } from '../../platform/crypto/secrets.ts';
import { ApiError } from '../../platform/errors.ts';
import { randomText } from '../../platform/ids.ts';
import { type Actor, asUser, recordAudit } from '../audit/record.ts';

export const SESSION_DAYS = 7;

/**
 * Creates a session and returns the cookie's token; stores only its hash, so a copy of the table opens nothing.
 * `boundTo` is hashed before it: the session is found only by a token with the same prefix.
 */
export async function createSession(db: Db, userId: string, boundTo = ''): Promise<string> {
  const token = randomText(48);
  const expiresAt = new Date(Date.now() + SESSION_DAYS * 86_400_000);
  await Session.query(db).insert({ tokenHash: hashToken(boundTo + token), userId, expiresAt });
  return token;
}

/**
 * Creates a session after a sign-in as `user`. Fails when the password was replaced meanwhile, which ends all sessions:
 * a slow login must not bring one back. The lock waits for a replacement in progress. With an actor, it is a log-in for
 * the audit log.
 */
export async function createSessionOf(
  db: Db,
  user: Pick<User, 'id' | 'passwordHash'>,
  { boundTo = '', actor }: { boundTo?: string; actor?: Actor | undefined } = {},
): Promise<string> {
  return inTransaction(db, async (trx) => {
    const current = await User.query(trx).findById(user.id).forShare();
    if (current?.passwordHash !== user.passwordHash)
      throw new ApiError(401, 'INVALID_CREDENTIALS', 'The password was changed just now.', {
        suggestion: 'Log in again.',
      });
    if (actor)
      await recordAudit(
        trx,
        { userId: user.id, actor: asUser(actor, user.id) },
        { action: 'user.logged_in', target: { type: 'user', id: user.id } },
      );
    return createSession(trx, user.id, boundTo);
  });
}

/** Returns whether `token` is a session of this account. */
export async function isSessionOf(db: Db, token: string | undefined, userId: string): Promise<boolean> {
  return token !== undefined && (await findSessionUser(db, token))?.id === userId;
}

export async function findSessionUser(db: Db, token: string): Promise<User | undefined> {
  return User.query(db).findOne(
    'id',
    Session.query(db).select('userId').where('tokenHash', hashToken(token)).where('expiresAt', '>', db.fn.now()),
  );
}

export async function endSession(db: Db, token: string): Promise<void> {
  await Session.query(db).deleteById(hashToken(token));
}

/** Ends all sessions of the user. */
export async function endSessions(db: Db, userId: string): Promise<void> {
  await Session.query(db).delete().where({ userId });
}
