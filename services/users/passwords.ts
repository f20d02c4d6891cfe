import { type Db, inTransaction } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
import { ApiError, badRequest } from '../../platform/errors.ts';
import { hashPassword, verifyPassword } from '../../platform/secrets.ts';
import { endSessions } from '../sessions/sessions.ts';
import { beginAttempt } from './attempts.ts';
import { type MailSettings, mailPasswordChanged } from './mails.ts';
import { findToken, lockTokenUser, revokeTokens, useToken } from './tokens.ts';

export const wrongCredentials = () => new ApiError(401, 'INVALID_CREDENTIALS', 'The address or the password is wrong.');

/** What an address without a password is compared with, so that it takes as long to be refused as any other. */
const nobodysPassword = hashPassword('nobody has this password');

export async function logIn(db: Db, email: string, password: string, ip: string): Promise<User> {
  const attempt = await beginAttempt(db, { kind: 'login', email, ip });
  const user = await User.query(db).findOne({ email });
  const matches = await verifyPassword(user?.passwordHash ?? (await nobodysPassword), password);
  if (!user?.passwordHash || !matches) throw wrongCredentials();
  await attempt.succeed();
  return user;
}

/** Ends all sessions, that of the caller too. Returns the user with the new password. */
export async function changePassword(
  db: Db,
  settings: MailSettings,
  user: User,
  { currentPassword, newPassword, ip }: { currentPassword: string; newPassword: string; ip: string },
): Promise<User> {
  if (!user.passwordHash)
    throw badRequest('This account has no password yet.', {
      suggestion: 'Set the first one with POST /auth/request-password-reset.',
    });
  const { passwordHash: current } = await logIn(db, user.email, currentPassword, ip);
  const passwordHash = await hashPassword(newPassword);
  return inTransaction(db, async (trx) => {
    const locked = await User.query(trx).findById(user.id).forNoKeyUpdate();
    // The password was changed or cleared since it was compared.
    if (locked?.passwordHash !== current) throw wrongCredentials();
    const changed = await replacePassword(trx, user.id, { passwordHash });
    await mailPasswordChanged(trx, settings, changed);
    return changed;
  });
}

/** Whoever has the token has the mailbox, so the address is verified by it too. */
export async function resetPassword(db: Db, settings: MailSettings, token: string, password: string): Promise<User> {
  // Hashing is expensive: only for who has a token, and before anything is locked.
  await findToken(db, 'RESET_PASSWORD', token);
  const passwordHash = await hashPassword(password);
  return inTransaction(db, async (trx) => {
    const { user } = await lockTokenUser(trx, 'RESET_PASSWORD', token);
    await useToken(trx, 'RESET_PASSWORD', token);
    const changed = await replacePassword(trx, user.id, { passwordHash, emailVerified: true });
    await mailPasswordChanged(trx, settings, changed, { takenOver: !user.emailVerified });
    return changed;
  });
}

/**
 * Sets another password, or none. Whoever knew the old one is out: all sessions end, and all links in mails that were
 * sent before stop working. The caller has locked the user.
 */
export async function replacePassword(
  trx: Db,
  userId: string,
  change: { passwordHash: string | null; emailVerified?: true },
): Promise<User> {
  const user = await User.query(trx).patchAndFetchById(userId, { ...change, updatedAt: new Date() });
  await endSessions(trx, userId);
  await revokeTokens(trx, userId);
  return user;
}

/** Accounts are signed in to by a password or by a provider; an invited user may have neither yet. */
export async function canSignIn(db: Db, { id, passwordHash }: Pick<User, 'id' | 'passwordHash'>): Promise<boolean> {
  return passwordHash !== null || (await db('userIdentities').where({ userId: id }).first('userId')) !== undefined;
}
