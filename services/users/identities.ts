import { type Db, inTransaction } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
import { readAddress } from '../../platform/address.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { OAuthIdentity } from '../../platform/oauth.ts';
import type { Settings } from '../../platform/settings.ts';
import { endSessions } from '../sessions/sessions.ts';
import { countSignup } from './attempts.ts';
import { refuseSignup } from './sign-up.ts';
import { revokeTokens } from './tokens.ts';

export type SignupSettings = Pick<Settings, 'signupEnabled' | 'signupsPerIpPerHour'>;

/**
 * The user behind an account elsewhere: the one who came with it before, else the one with its address, else a new one.
 * Only an address that the provider has verified counts, and an account here that never proved to own it is secured.
 */
export async function signInWith(
  db: Db,
  settings: SignupSettings,
  { provider, subject, email: given, emailVerified }: OAuthIdentity,
  ip: string,
): Promise<User> {
  const known = await findKnown(db, provider, subject);
  if (known) return known;
  const email = readAddress(given);
  if (!email || !emailVerified)
    throw new ApiError(403, 'FORBIDDEN', 'The account there has no verified e-mail address.', {
      suggestion: 'Verify the address there first, or sign up with a password.',
    });
  return inTransaction(db, async (trx) => {
    const user = (await proven(trx, email)) ?? (await create(trx, settings, email, ip));
    await trx('userIdentities')
      .insert({ provider, subject, userId: user.id })
      .onConflict(['provider', 'subject'])
      .ignore();
    return (await findKnown(trx, provider, subject)) ?? user;
  });
}

const findKnown = (db: Db, provider: string, subject: string): Promise<User | undefined> =>
  User.query(db).findOne('id', db('userIdentities').select('userId').where({ provider, subject })).execute();

/** An account that never proved to own the address may be a stranger's: it keeps no password, session or identity. */
async function proven(trx: Db, email: string): Promise<User | undefined> {
  const user = await User.query(trx).findOne({ email }).forNoKeyUpdate();
  if (!user || user.emailVerified) return user;
  await endSessions(trx, user.id);
  // Invitations stay: the account has a provider from now on, so accepting one needs a session.
  await revokeTokens(trx, user.id, 'RESET_PASSWORD', 'VERIFY_EMAIL');
  await trx('userIdentities').where({ userId: user.id }).del();
  return User.query(trx).patchAndFetchById(user.id, { passwordHash: null, emailVerified: true, updatedAt: new Date() });
}

/** Of two who come at once the second finds what the first has made; a sign-up with a password may be the first. */
async function create(trx: Db, settings: SignupSettings, email: string, ip: string): Promise<User> {
  refuseSignup(settings);
  await countSignup(trx, settings, ip);
  await User.query(trx).insert({ id: newId(), email, emailVerified: true }).onConflict('email').ignore();
  return (await proven(trx, email)) ?? User.query(trx).findOne({ email }).throwIfNotFound();
}
