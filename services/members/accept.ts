import { type Db, inTransaction } from '../../db/connect.ts';
import { Membership, type Role } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { User, UserIdentity } from '../../db/models/user.ts';
import { hashPassword } from '../../platform/crypto/secrets.ts';
import { ApiError, badRequest, validationError } from '../../platform/errors.ts';
import { type Actor, asUser, recordAudit } from '../audit/record.ts';
import { type CurrentSession, endSessions, findSessionOf } from '../sessions/sessions.ts';
import { canSignIn } from '../users/passwords.ts';
import { findTokenUser, lockTokenUser, revokeTokens, useToken } from '../users/tokens.ts';
import { markVerified } from '../users/verification.ts';

/** What accepting requires besides the token: a session of the invited account, a first password, or nothing. */
export type AcceptanceNeed = 'session' | 'password' | 'nothing';

export interface OpenInvitation {
  projectId: string;
  projectName: string;
  email: string;
  role: Role;
  needs: AcceptanceNeed;
  /** How the user can sign in. */
  hasPassword: boolean;
  hasTwoFactor: boolean;
  providers: string[];
}

const withdrawn = () => badRequest('This invitation has been withdrawn.');

/** Returns the invitation of a link for its page, without changing anything. */
export async function findInvitation(db: Db, token: string, session: string | undefined): Promise<OpenInvitation> {
  const { user, projectId } = await findTokenUser(db, 'INVITATION', token);
  const project = projectId && (await Project.query(db).findById(projectId));
  const membership = projectId && (await Membership.query(db).findById([projectId, user.id]));
  if (!project || !membership) throw withdrawn();
  const identities = await UserIdentity.query(db).where({ userId: user.id }).orderBy('provider');
  return {
    projectId: project.id,
    projectName: project.name,
    email: user.email,
    role: membership.role,
    needs: await needOf(db, user, await findSessionOf(db, session, user.id)),
    hasPassword: user.passwordHash !== null,
    hasTwoFactor: user.totpEnabledAt !== null,
    providers: identities.map(({ provider }) => provider),
  };
}

/** A link does not log in: an account that can be signed in to accepts with a session. */
async function needOf(db: Db, user: User, session: CurrentSession | undefined): Promise<AcceptanceNeed> {
  if (!(await canSignIn(db, user))) return 'password';
  return session ? 'nothing' : 'session';
}

/**
 * Locks the user, then the membership, then the token: inviting takes the last two in the same order. Returns the session
 * that accepted, if it was one.
 */
export async function acceptInvitation(
  db: Db,
  { token, password }: { token: string; password?: string | undefined },
  sessionToken: string | undefined,
  actor: Actor,
): Promise<{ user: User; projectId: string; session: CurrentSession | undefined }> {
  const { user: invited } = await findTokenUser(db, 'INVITATION', token);
  // Hashed before any row is locked, and only where it can be the first password.
  const passwordHash =
    password === undefined || (await canSignIn(db, invited)) ? undefined : await hashPassword(password);
  return inTransaction(db, async (trx) => {
    const { user, projectId } = await lockTokenUser(trx, 'INVITATION', token);
    const session = await findSessionOf(trx, sessionToken, user.id);
    const needs = await needOf(trx, user, session);
    if (needs === 'session')
      throw new ApiError(401, 'UNAUTHORIZED', 'The invited address has an account. Log in to accept the invitation.', {
        suggestion: 'Log in as the invited user with POST /auth/login, and send the session cookie.',
      });
    if (needs === 'password' && passwordHash === undefined)
      throw validationError([
        { field: 'password', message: '"password" is required: the account does not have one yet', code: 'required' },
      ]);
    const joined =
      projectId &&
      (await Membership.query(trx)
        .patch({ status: 'ACTIVE' })
        .where({ projectId, userId: user.id, status: 'PENDING' }));
    await useToken(trx, 'INVITATION', token);
    if (!projectId || !joined) throw withdrawn();
    await recordAudit(
      trx,
      { projectId, actor: asUser(actor, user.id) },
      { action: 'member.joined', target: { type: 'user', id: user.id } },
    );
    const accepted =
      needs === 'password' && passwordHash !== undefined
        ? await setFirstPassword(trx, user.id, passwordHash)
        : await markVerified(trx, user.id);
    return { user: accepted, projectId, session: needs === 'nothing' ? session : undefined };
  });
}

/** Other invitations stay valid; accepting them requires a session from now on. */
async function setFirstPassword(trx: Db, userId: string, passwordHash: string): Promise<User> {
  await endSessions(trx, userId);
  await revokeTokens(trx, userId, 'RESET_PASSWORD', 'VERIFY_EMAIL');
  return User.query(trx).patchAndFetchById(userId, { passwordHash, emailVerified: true, updatedAt: new Date() });
}
