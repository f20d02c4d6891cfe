import { UniqueViolationError } from 'objection';
import { type Db, inTransaction } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
import { hashPassword } from '../../platform/crypto/secrets.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Settings } from '../../platform/settings.ts';
import { beginAttempt, countSignup } from './attempts.ts';
import { createUser, type NewUser } from './create.ts';
import { type MailSettings, mailVerification } from './mails.ts';

export const addressTaken = () =>
  new ApiError(409, 'CONFLICT', 'An account with this address already exists.', {
    suggestion: 'Log in, or reset the password.',
  });

export function refuseSignup({ signupEnabled }: Pick<Settings, 'signupEnabled'>): void {
  if (!signupEnabled)
    throw new ApiError(403, 'FORBIDDEN', 'Sign-up is turned off on this installation.', {
      suggestion: 'Ask for an invitation to a project.',
    });
}

/**
 * Opens an account, or sets the first password of an invited user, whose invitation stays pending. A taken address is
 * reported, so attempts are throttled like password guesses.
 */
export async function signUp(
  db: Db,
  settings: MailSettings & Pick<Settings, 'signupEnabled' | 'signupsPerIpPerHour'>,
  { email, password, ip }: { email: string; password: string; ip: string },
): Promise<User> {
  refuseSignup(settings);
  const counted = await countSignup(db, settings, ip);
  const open = async () => {
    const attempt = await beginAttempt(db, { kind: 'signup', email, ip });
    return { attempt, user: await openAccount(db, settings, { email, password }) };
  };
  const { attempt, user } = await open().catch(async (error: unknown) => {
    await counted.undo();
    throw error instanceof UniqueViolationError ? addressTaken() : error;
  });
  await attempt.succeed();
  return user;
}

const openAccount = (db: Db, settings: MailSettings, { email, password }: NewUser): Promise<User> =>
  inTransaction(db, async (trx) => {
    const user = (await completeInvitedAccount(trx, email, password)) ?? (await createUser(trx, { email, password }));
    await mailVerification(trx, settings, user);
    return user;
  });

async function completeInvitedAccount(trx: Db, email: string, password: string): Promise<User | undefined> {
  const user = await User.query(trx).findOne({ email }).forUpdate();
  if (!user) return undefined;
  if (user.passwordHash || user.emailVerified) throw addressTaken();
  return user.$query(trx).patchAndFetch({ passwordHash: await hashPassword(password), updatedAt: new Date() });
}
