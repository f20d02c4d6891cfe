import type { Db } from '../../db/connect.ts';
import type { Role } from '../../db/models/membership.ts';
import { Membership } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { accessOf, type ProjectAccess } from './keys.ts';

/** What a member may work on, and as what. */
export async function findMembership(
  db: Db,
  userId: string,
  projectId: string,
): Promise<{ project: ProjectAccess; role: Role } | undefined> {
  const membership = await Membership.query(db).findById([projectId, userId]);
  const project = membership && (await Project.query(db).findById(projectId));
  return project && { project: accessOf(project), role: membership.role };
}
