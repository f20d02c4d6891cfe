import type { Db } from '../../db/connect.ts';
import { Membership, type Role } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { ApiError } from '../../platform/errors.ts';
import { accessOf, type ProjectAccess } from './keys.ts';

/** Returns the project and role of an active member; pending invitations do not count. */
export async function findMembership(
  db: Db,
  userId: string,
  projectId: string,
): Promise<{ project: ProjectAccess; role: Role } | undefined> {
  const membership = await Membership.query(db).findOne({ projectId, userId, status: 'ACTIVE' });
  const project = membership && (await Project.query(db).findById(projectId));
  return project && { project: accessOf(project), role: membership.role };
}

/** The same error for a missing project and for one the caller is not a member of. */
export const noProject = () =>
  new ApiError(404, 'RESOURCE_NOT_FOUND', 'There is no such project, or you are no member of it.');
