import { type Db, inTransaction } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { ApiError, badRequest } from '../../platform/errors.ts';
import { type Actor, asUser, recordAudit } from '../audit/record.ts';
import { type CurrentSession, createSession, type NewSession, proveSession } from '../sessions/sessions.ts';
import { beginAttempt, beginCode, inTurn } from './attempts.ts';
import { checkPassword, comparePassword } from './passwords.ts';
import { CodeRequired, lockUser, useCode, WrongCode } from './two-factor.ts';

/** Where a sign-in comes from. */
export interface SignInClient extends NewSession {
  ip: string;
  actor: Actor;
}

/** What the user gives besides the password or the provider's word. */
export interface SecondFactor {
  /** A code of the authenticator or a recovery code. */
  code?: string | undefined;
  /** A session of the same account, which has passed the second factor. */
  session?: CurrentSession | undefined;
}

/** Logs in with a password, and with a code where two-factor authentication is on. Returns the token of a new session. */
export async function logIn(
  db: Db,
  keys: SigningKeys,
  { email, password, code }: { email: string; password: string; code?: string | undefined },
  client: SignInClient,
): Promise<{ user: User; token: string }> {
  return inTurn(email, async () => {
    const attempt = await beginAttempt(db, { kind: 'login', email, ip: client.ip });
    const user = await comparePassword(db, email, password, client.actor);
    const token = await startSession(db, keys, user, { code }, client).catch(async (error: unknown) => {
      // Counts as no failure, but clears no earlier ones either: they may be guessed codes.
      if (error instanceof CodeRequired) await attempt.undo();
      throw error;
    });
    await attempt.succeed();
    return { user, token };
  });
}

/** Completes a sign-in with a provider by a code. */
export async function completeSignIn(
  db: Db,
  keys: SigningKeys,
  userId: string,
  code: string,
  client: SignInClient,
): Promise<string> {
  const user = await User.query(db).findById(userId);
  if (!user) throw new ApiError(401, 'UNAUTHORIZED', 'The account no longer exists.');
  const attempt = await beginAttempt(db, { kind: 'login', email: user.email, ip: client.ip });
  const token = await startSession(db, keys, user, { code }, client);
  await attempt.succeed();
  return token;
}

/**
 * Starts a session of `user`, who has proved who they are except for the second factor. Fails when the password was replaced
 * meanwhile, which ends all sessions: a slow login must not bring one back. The code is used in the transaction of the
 * session, so that a crash in between does not use it up.
 */
export async function startSession(
  db: Db,
  keys: SigningKeys,
  user: Pick<User, 'id' | 'passwordHash'>,
  { code, session }: SecondFactor,
  { actor, ...client }: SignInClient,
): Promise<string> {
  const counted = code === undefined ? undefined : await beginCode(db, user.id);
  const scope = { userId: user.id, actor: asUser(actor, user.id) };
  const target = { type: 'user', id: user.id };
  const token = await inTransaction(db, async (trx) => {
    const current = await lockUser(trx, user.id);
    if (current.passwordHash !== user.passwordHash)
      throw new ApiError(401, 'INVALID_CREDENTIALS', 'The password has just been changed.', {
        suggestion: 'Log in again.',
      });
    if (current.totpEnabledAt && !session) {
      if (code === undefined) throw new CodeRequired();
      await useCode(trx, keys, current, code);
    }
    if (!session) await recordAudit(trx, scope, { action: 'user.logged_in', target });
    return createSession(trx, user.id, { ...client, provenAt: session?.provenAt });
  }).catch(async (error: unknown) => {
    if (error instanceof WrongCode) await recordAudit(db, scope, { action: 'user.login_failed', target });
    throw error;
  });
  await counted?.succeed();
  return token;
}

/** Proves again who the user of a session is, by password or by code. */
export async function confirmSession(
  db: Db,
  keys: SigningKeys,
  { user, session }: { user: User; session: CurrentSession },
  { password, code, actor }: { password?: string | undefined; code?: string | undefined; actor: Actor },
): Promise<void> {
  if (password !== undefined) {
    await checkPassword(db, user.email, password, actor);
    return proveSession(db, session.id);
  }
  const attempt = await beginAttempt(db, { kind: 'code', email: user.email, ip: actor.ip ?? '' });
  const counted = await beginCode(db, user.id);
  await inTransaction(db, async (trx) => {
    const current = await lockUser(trx, user.id);
    if (!current.totpEnabledAt)
      throw badRequest('This account does not have two-factor authentication.', {
        suggestion: 'Send "password", or sign in with your provider again.',
      });
    await useCode(trx, keys, current, code ?? '');
    await proveSession(trx, session.id);
  });
  await attempt.succeed();
  await counted.succeed();
}
