import { type Db, inTransaction } from '../../db/connect.ts';
import { Membership, type Role } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { User } from '../../db/models/user.ts';
import { badRequest, validationError } from '../../platform/errors.ts';
import { findSessionUser } from '../sessions/sessions.ts';
import { secureUnproven } from '../users/passwords.ts';
import { findToken, useToken } from '../users/tokens.ts';

export interface OpenInvitation {
  projectName: string;
  email: string;
  role: Role;
  /** Nobody has proved yet that the account is theirs: they choose a password. */
  asksPassword: boolean;
}

const withdrawn = () => badRequest('This invitation has been withdrawn.');

/** What a link leads to, for its page; changes nothing. */
export async function findInvitation(db: Db, token: string): Promise<OpenInvitation> {
  const { userId, projectId } = await findToken(db, 'INVITATION', token);
  const user = await User.query(db).findById(userId);
  const project = projectId && (await Project.query(db).findById(projectId));
  const membership = projectId && (await Membership.query(db).findById([projectId, userId]));
  if (!user || !project || !membership) throw withdrawn();
  return { projectName: project.name, email: user.email, role: membership.role, asksPassword: !user.emailVerified };
}

const isEmpty = ({ passwordHash, emailVerified }: User): boolean => passwordHash === null && !emailVerified;

/** Whoever has the token has the mailbox. An account that was opened in its name without ever proving so is secured. */
export async function acceptInvitation(
  db: Db,
  { token, password }: { token: string; password?: string | undefined },
  session: string | undefined,
): Promise<{ user: User; projectId: string }> {
  return inTransaction(db, async (trx) => {
    const { userId, projectId } = await useToken(trx, 'INVITATION', token);
    const user = await User.query(trx).findById(userId).forUpdate().throwIfNotFound();
    if (isEmpty(user) && password === undefined)
      throw validationError([
        { field: 'password', message: '"password" is required: the account has none yet', code: 'required' },
      ]);
    const joined =
      projectId &&
      (await Membership.query(trx).patch({ status: 'ACTIVE' }).where({ projectId, userId, status: 'PENDING' }));
    if (!projectId || !joined) throw withdrawn();
    const isTheirs = session !== undefined && (await findSessionUser(trx, session))?.id === userId;
    if (isTheirs && user.passwordHash) await User.query(trx).findById(userId).patch({ emailVerified: true });
    else await secureUnproven(trx, user, password);
    return { user, projectId };
  });
}
