import { type Db, inTransaction } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
import { readAddress } from '../../platform/address.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { OAuthIdentity } from '../../platform/oauth.ts';
import type { Settings } from '../../platform/settings.ts';
import { secureUnproven } from './passwords.ts';
import { refuseSignup } from './sign-up.ts';

/**
 * The user behind an account elsewhere: the one who came with it before, else the one with its address, else a new one.
 * Only an address that the provider has verified counts, and an account here that never proved to own it is secured.
 */
export async function signInWith(
  db: Db,
  settings: Pick<Settings, 'signupEnabled'>,
  { provider, subject, email: given, emailVerified }: OAuthIdentity,
): Promise<User> {
  const known = await findKnown(db, provider, subject);
  if (known) return known;
  const email = readAddress(given);
  if (!email || !emailVerified)
    throw new ApiError(403, 'FORBIDDEN', 'The account there has no verified e-mail address.', {
      suggestion: 'Verify the address there first, or sign up with a password.',
    });
  return inTransaction(db, async (trx) => {
    const user = (await proven(trx, email)) ?? (await create(trx, settings, email));
    await trx('userIdentities')
      .insert({ provider, subject, userId: user.id })
      .onConflict(['provider', 'subject'])
      .ignore();
    return (await findKnown(trx, provider, subject)) ?? user;
  });
}

const findKnown = (db: Db, provider: string, subject: string): Promise<User | undefined> =>
  User.query(db).findOne('id', db('userIdentities').select('userId').where({ provider, subject })).execute();

async function proven(trx: Db, email: string): Promise<User | undefined> {
  const user = await User.query(trx).findOne({ email }).forUpdate();
  if (user) await secureUnproven(trx, user, undefined);
  return user;
}

/** Of two who come at once the second finds what the first has made. */
async function create(trx: Db, settings: Pick<Settings, 'signupEnabled'>, email: string): Promise<User> {
  refuseSignup(settings);
  await User.query(trx).insert({ id: newId(), email, emailVerified: true }).onConflict('email').ignore();
  return User.query(trx).findOne({ email }).throwIfNotFound();
}
