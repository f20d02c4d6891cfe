import { type Db, inTransaction } from '../../db/connect.ts';
import { User, UserIdentity } from '../../db/models/user.ts';
import { statement } from '../../db/statement.ts';
import { parseAddress } from '../../platform/address.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { OAuthIdentity } from '../../platform/integrations/oauth.ts';
import type { Settings } from '../../platform/settings.ts';
import type { AuditAction } from '../audit/actions.ts';
import { type Actor, asUser, type Changes, recordAudit } from '../audit/record.ts';
import { endSessions } from '../sessions/sessions.ts';
import { countSignup } from './attempts.ts';
import { refuseSignup } from './sign-up.ts';
import { revokeTokens } from './tokens.ts';
import { removeTwoFactor } from './two-factor.ts';

export type SignupSettings = Pick<Settings, 'signupEnabled' | 'signupsPerIpPerHour'>;

/**
 * Returns the user of an OAuth identity: the one linked to it, else the one with its address, else a new one. Only an
 * address verified by the provider counts; an account here that never proved its address is secured.
 */
export async function signInWith(
  db: Db,
  settings: SignupSettings,
  { provider, subject, email: given, emailVerified }: OAuthIdentity,
  actor: Actor,
): Promise<User> {
  const known = await findKnown(db, provider, subject);
  if (known) return known;
  const email = parseAddress(given);
  if (!email || !emailVerified)
    throw new ApiError(403, 'FORBIDDEN', 'The provider account has no verified email address.', {
      suggestion: 'Verify the address with the provider first, or sign up with a password.',
    });
  return inTransaction(db, async (trx) => {
    const user = (await findAndSecure(trx, email, actor)) ?? (await create(trx, settings, email, actor));
    const linked = await link.count(trx, [provider, subject, user.id]);
    if (linked > 0)
      await record(trx, 'user.provider_linked', user.id, actor, { provider: { from: null, to: provider } });
    return (await findKnown(trx, provider, subject)) ?? user;
  });
}

const link = statement(
  'identity-link',
  'insert into user_identities (provider, subject, user_id) values ($1, $2, $3) on conflict do nothing',
);

/** The provider has vouched for the user. */
const record = (trx: Db, action: AuditAction, id: string, actor: Actor, changes: Changes = {}): Promise<void> =>
  recordAudit(trx, { userId: id, actor: asUser(actor, id) }, { action, target: { type: 'user', id }, changes });

async function findKnown(db: Db, provider: string, subject: string): Promise<User | undefined> {
  const identity = await UserIdentity.query(db).findById([provider, subject]);
  return identity && User.query(db).findById(identity.userId);
}

/**
 * An account that never proved its address may be a stranger's: it loses its password, sessions, identities and
 * two-factor authentication.
 */
async function findAndSecure(trx: Db, email: string, actor: Actor): Promise<User | undefined> {
  const user = await User.query(trx).findOne({ email }).forNoKeyUpdate();
  if (!user || user.emailVerified) return user;
  await endSessions(trx, user.id);
  // Invitations stay: the account has an identity now, so accepting one requires a session.
  await revokeTokens(trx, user.id, 'RESET_PASSWORD', 'VERIFY_EMAIL');
  await UserIdentity.query(trx).where({ userId: user.id }).delete();
  await removeTwoFactor(trx, user.id);
  if (user.passwordHash) await record(trx, 'user.password_cleared', user.id, actor);
  return User.query(trx).patchAndFetchById(user.id, { passwordHash: null, emailVerified: true, updatedAt: new Date() });
}

/** Of two concurrent calls the second finds the user of the first; a sign-up with a password may be the first. */
async function create(trx: Db, settings: SignupSettings, email: string, actor: Actor): Promise<User> {
  refuseSignup(settings);
  await countSignup(trx, settings, actor.ip ?? '');
  await User.query(trx).insert({ id: newId(), email, emailVerified: true }).onConflict('email').ignore();
  return (await findAndSecure(trx, email, actor)) ?? User.query(trx).findOne({ email }).throwIfNotFound();
}
