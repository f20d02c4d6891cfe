import { type Db, inTransaction } from '../../db/connect.ts';
import { User, UserIdentity } from '../../db/models/user.ts';
import { hashPassword } from '../../platform/crypto/secrets.ts';
import { type Actor, asUser, recordAudit } from '../audit/record.ts';
import { findSessionOf } from '../sessions/sessions.ts';
import { type MailSettings, mailPasswordChanged } from './mails.ts';
import { canSignIn, checkPassword, replacePassword } from './passwords.ts';
import { findTokenUser, lockTokenUser, revokeTokens, useToken } from './tokens.ts';
import { removeTwoFactor } from './two-factor.ts';

/** A verification token and what may prove ownership of the account. */
export interface VerificationProof {
  token: string;
  /** The account's current password. */
  password?: string | undefined;
  newPassword?: string | undefined;
  session: string | undefined;
  actor: Actor;
}

/**
 * Verifies the address of a token. The token proves the mailbox, not that its owner opened the account: a stranger may
 * have signed up with the address. So without a session of the account or its password, the password is replaced by
 * `newPassword`, or cleared, and all sessions end.
 */
export async function verifyEmail(
  db: Db,
  settings: MailSettings,
  { token, password, newPassword, session, actor }: VerificationProof,
): Promise<{ user: User; passwordCleared: boolean }> {
  const { user: claimed } = await findTokenUser(db, 'VERIFY_EMAIL', token);
  // Throttled like logins. The token stays valid when the password is wrong.
  if (password !== undefined) await checkPassword(db, claimed.email, password, actor);
  const newHash = newPassword === undefined ? undefined : await hashPassword(newPassword);
  return inTransaction(db, async (trx) => {
    const { user } = await lockTokenUser(trx, 'VERIFY_EMAIL', token);
    await useToken(trx, 'VERIFY_EMAIL', token);
    const isProven =
      user.emailVerified ||
      password !== undefined ||
      (await findSessionOf(trx, session, user.id)) !== undefined ||
      !(await canSignIn(trx, user));
    if (newHash === undefined && isProven) return { user: await markVerified(trx, user.id), passwordCleared: false };
    // What was set up before the mailbox was proven may belong to a stranger.
    if (!isProven) {
      await UserIdentity.query(trx).where({ userId: user.id }).delete();
      await removeTwoFactor(trx, user.id);
    }
    const changed = await replacePassword(trx, user.id, { passwordHash: newHash ?? null, emailVerified: true });
    await recordAudit(
      trx,
      { userId: user.id, actor: asUser(actor, user.id) },
      { action: newHash ? 'user.password_reset' : 'user.password_cleared', target: { type: 'user', id: user.id } },
    );
    await mailPasswordChanged(trx, settings, changed, { takenOver: !isProven, cleared: newHash === undefined });
    return { user: changed, passwordCleared: newHash === undefined };
  });
}

/** Also revokes the other verification links: used later without a session, they would clear the password. */
export async function markVerified(trx: Db, userId: string): Promise<User> {
  await revokeTokens(trx, userId, 'VERIFY_EMAIL');
  return User.query(trx).patchAndFetchById(userId, { emailVerified: true, updatedAt: new Date() });
}

/** Returns the address of a link, and whether the browser has a session of that account, for the link's page. */
export async function findVerification(
  db: Db,
  token: string,
  session: string | undefined,
): Promise<{ email: string; ownSession: boolean }> {
  const { user } = await findTokenUser(db, 'VERIFY_EMAIL', token);
  return { email: user.email, ownSession: (await findSessionOf(db, session, user.id)) !== undefined };
}
