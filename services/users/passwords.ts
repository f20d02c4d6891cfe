import { type Db, inTransaction } from '../../db/connect.ts';
import { User, UserIdentity } from '../../db/models/user.ts';
import { hashPassword, verifyPassword } from '../../platform/crypto/secrets.ts';
import { ApiError, badRequest } from '../../platform/errors.ts';
import { type Actor, asUser, recordAudit } from '../audit/record.ts';
import { endSessions } from '../sessions/sessions.ts';
import { beginAttempt } from './attempts.ts';
import { type MailSettings, mailPasswordChanged } from './mails.ts';
import { findToken, lockTokenUser, revokeTokens, useToken } from './tokens.ts';
import { removeTwoFactor } from './two-factor.ts';

export const wrongCredentials = () => new ApiError(401, 'INVALID_CREDENTIALS', 'Incorrect email address or password.');

/** Compared when the account has no password, so that the refusal takes as long as any other. */
let dummyPasswordHash: Promise<string> | undefined;

/** Returns the user with this password. The caller counts the attempt. */
export async function comparePassword(db: Db, email: string, password: string, actor: Actor): Promise<User> {
  const user = await User.query(db).findOne({ email });
  dummyPasswordHash ??= hashPassword('not a password of any account');
  // Awaited for every account: the first call of a process waits for it.
  const dummy = await dummyPasswordHash;
  const matches = await verifyPassword(user?.passwordHash ?? dummy, password);
  if (!user?.passwordHash || !matches) {
    // Recorded for unknown addresses too: the answer takes as long.
    await recordAudit(db, { userId: user?.id, actor }, { action: 'user.login_failed', target: userTarget(user?.id) });
    throw wrongCredentials();
  }
  return user;
}

/** Returns the user with this password. Throttled like log-ins; asks for no code, since no session follows from it. */
export async function checkPassword(db: Db, email: string, password: string, actor: Actor): Promise<User> {
  const attempt = await beginAttempt(db, { kind: 'login', email, ip: actor.ip ?? '' });
  const user = await comparePassword(db, email, password, actor);
  await attempt.succeed();
  return user;
}

const userTarget = (id: string | undefined) => ({ type: 'user', id: id ?? null });

/** Ends all sessions, including the caller's. Returns the user with the new password. */
export async function changePassword(
  db: Db,
  settings: MailSettings,
  user: User,
  { currentPassword, newPassword, actor }: { currentPassword: string; newPassword: string; actor: Actor },
): Promise<User> {
  if (!user.passwordHash)
    throw badRequest('This account has no password yet.', {
      suggestion: 'Set one with POST /auth/request-password-reset.',
    });
  const { passwordHash: current } = await checkPassword(db, user.email, currentPassword, actor);
  const passwordHash = await hashPassword(newPassword);
  return inTransaction(db, async (trx) => {
    const locked = await User.query(trx).findById(user.id).forNoKeyUpdate();
    // The password was changed or cleared since it was compared.
    if (locked?.passwordHash !== current) throw wrongCredentials();
    const changed = await replacePassword(trx, user.id, { passwordHash });
    await recordAudit(
      trx,
      { userId: user.id, actor },
      { action: 'user.password_changed', target: userTarget(user.id) },
    );
    await mailPasswordChanged(trx, settings, changed);
    return changed;
  });
}

/** Sets a new password. The token came by mail, so it also verifies the address. */
export async function resetPassword(
  db: Db,
  settings: MailSettings,
  token: string,
  password: string,
  actor: Actor,
): Promise<User> {
  // Hashing is expensive: it runs only for valid tokens, and before any row is locked.
  await findToken(db, 'RESET_PASSWORD', token);
  const passwordHash = await hashPassword(password);
  return inTransaction(db, async (trx) => {
    const { user } = await lockTokenUser(trx, 'RESET_PASSWORD', token);
    await useToken(trx, 'RESET_PASSWORD', token);
    // A stranger who opened the account may have set it up.
    if (!user.emailVerified) await removeTwoFactor(trx, user.id);
    const changed = await replacePassword(trx, user.id, { passwordHash, emailVerified: true });
    await recordAudit(
      trx,
      { userId: user.id, actor: asUser(actor, user.id) },
      { action: 'user.password_reset', target: userTarget(user.id) },
    );
    await mailPasswordChanged(trx, settings, changed, { takenOver: !user.emailVerified });
    return changed;
  });
}

/**
 * Sets another password or none, ends all sessions and revokes all mailed links, to lock out anyone who knew the old
 * password. The caller has locked the user.
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

/** Returns whether the account has a password, two-factor authentication or an OAuth identity; an invited user may have none. */
export async function canSignIn(db: Db, { id, passwordHash, totpEnabledAt }: User): Promise<boolean> {
  if (passwordHash !== null || totpEnabledAt !== null) return true;
  return (await UserIdentity.query(db).findOne({ userId: id })) !== undefined;
}
