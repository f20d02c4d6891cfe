import { type Db, inTransaction } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
import { ApiError, badRequest } from '../../platform/errors.ts';
import { hashPassword, verifyPassword } from '../../platform/secrets.ts';
import { endSessions } from '../sessions/sessions.ts';
import { beginAttempt } from './attempts.ts';
import { type MailSettings, mailPasswordChanged } from './mails.ts';
import { revokeTokens, useToken } from './tokens.ts';

const wrong = () => new ApiError(401, 'INVALID_CREDENTIALS', 'The address or the password is wrong.');

/** What an address without a password is compared with, so that it takes as long to be refused as any other. */
const nobodysPassword = hashPassword('nobody has this password');

export async function logIn(db: Db, email: string, password: string, ip: string): Promise<User> {
  const attempt = await beginAttempt(db, { kind: 'login', email, ip });
  const user = await User.query(db).findOne({ email });
  const matches = await verifyPassword(user?.passwordHash ?? (await nobodysPassword), password);
  if (!user?.passwordHash || !matches) throw wrong();
  await attempt.succeed();
  return user;
}

/** Ends all sessions, that of the caller too. */
export async function changePassword(
  db: Db,
  settings: MailSettings,
  user: User,
  { currentPassword, newPassword, ip }: { currentPassword: string; newPassword: string; ip: string },
): Promise<void> {
  if (!user.passwordHash)
    throw badRequest('This account has no password yet.', {
      suggestion: 'Set the first one with POST /auth/request-password-reset.',
    });
  await logIn(db, user.email, currentPassword, ip);
  await inTransaction(db, async (trx) => {
    await setPassword(trx, user.id, newPassword);
    await mailPasswordChanged(trx, settings, user);
  });
}

/** Whoever has the token has the mailbox, so the address is verified by it too. */
export async function resetPassword(db: Db, settings: MailSettings, token: string, password: string): Promise<User> {
  return inTransaction(db, async (trx) => {
    const { userId } = await useToken(trx, 'RESET_PASSWORD', token);
    await setPassword(trx, userId, password);
    const user = await User.query(trx).patchAndFetchById(userId, { emailVerified: true });
    await mailPasswordChanged(trx, settings, user);
    return user;
  });
}

export async function setPassword(trx: Db, userId: string, password: string): Promise<void> {
  await User.query(trx)
    .findById(userId)
    .patch({ passwordHash: await hashPassword(password), updatedAt: new Date() });
  await endSessions(trx, userId);
  await revokeTokens(trx, userId, 'RESET_PASSWORD');
}

/** The address belongs to whoever comes from its mailbox; an account that somebody else opened in its name does not. */
export async function secureUnproven(trx: Db, user: User, password: string | undefined): Promise<void> {
  if (user.emailVerified) return;
  await endSessions(trx, user.id);
  await revokeTokens(trx, user.id, 'RESET_PASSWORD', 'VERIFY_EMAIL');
  await User.query(trx)
    .findById(user.id)
    .patch({
      passwordHash: password === undefined ? null : await hashPassword(password),
      emailVerified: true,
      updatedAt: new Date(),
    });
}
