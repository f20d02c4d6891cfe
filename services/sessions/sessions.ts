import type { Db } from '../../db/connect.ts';
import { Session } from '../../db/models/session.ts';
import { User } from '../../db/models/user.ts';
import { randomText } from '../../platform/ids.ts';
import { hashToken } from '../../platform/secrets.ts';

export const SESSION_DAYS = 7;

/**
 * The token is for the cookie; only its hash is kept, so a copy of the table opens nothing. `boundTo` is hashed before
 * it: the session is then found only by a token that is presented with the same prefix.
 */
export async function createSession(db: Db, userId: string, boundTo = ''): Promise<string> {
  const token = randomText(48);
  const expiresAt = new Date(Date.now() + SESSION_DAYS * 86_400_000);
  await Session.query(db).insert({ tokenHash: hashToken(boundTo + token), userId, expiresAt });
  return token;
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

/** All of them, wherever they are. */
export async function endSessions(db: Db, userId: string): Promise<void> {
  await Session.query(db).delete().where({ userId });
}
