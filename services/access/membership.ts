import type { Db } from '../../db/connect.ts';
import { Membership, type Role } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { User } from '../../db/models/user.ts';
import { ApiError } from '../../platform/errors.ts';
import { accessOf, type ProjectAccess } from './keys.ts';

/** In ascending order of rights. */
export const roles = ['VIEWER', 'MEMBER', 'ADMIN', 'OWNER'] as const satisfies readonly Role[];

/** Returns whether `role` has the rights of `needed`. */
export const hasRole = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);

/**
 * Returns the project and role of an active member; pending invitations do not count. Rejects with 403 a member who lacks
 * the two-factor authentication that the project requires.
 */
export async function findMembership(
  db: Db,
  userId: string,
  projectId: string,
): Promise<{ project: ProjectAccess; role: Role } | undefined> {
  const membership = await Membership.query(db).findOne({ projectId, userId, status: 'ACTIVE' });
  const project = membership && (await Project.query(db).findById(projectId));
  if (project?.requireTwoFactor && !(await hasTwoFactor(db, userId))) throw twoFactorRequired();
  return project && { project: accessOf(project), role: membership.role };
}

const hasTwoFactor = async (db: Db, id: string): Promise<boolean> =>
  (await User.query(db).findById(id).whereNotNull('totpEnabledAt').select('id')) !== undefined;

const twoFactorRequired = () =>
  new ApiError(403, 'FORBIDDEN', 'This project requires two-factor authentication, which your account does not have.', {
    suggestion: 'Set it up with POST /users/@me/totp and POST /users/@me/totp/confirm.',
    details: { twoFactorRequired: true },
  });

/** The same error for a missing project and for one the caller is not a member of. */
export const noProject = () =>
  new ApiError(404, 'RESOURCE_NOT_FOUND', 'Project not found, or you are not a member of it.');
