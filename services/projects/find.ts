import type { Db } from '../../db/connect.ts';
import type { Role } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { noProject } from '../access/membership.ts';

export type MembersProject = Project & { role: Role };

const joined = (db: Db, userId: string) =>
  Project.query(db)
    .join('memberships as m', 'm.projectId', 'projects.id')
    .where({ 'm.userId': userId, 'm.status': 'ACTIVE' })
    .whereNull('projects.deletedAt')
    .select('projects.*', 'm.role')
    .castTo<MembersProject[]>();

/** Lists the projects of a user, oldest first. */
export const listProjects = (db: Db, userId: string): Promise<MembersProject[]> =>
  joined(db, userId).orderBy('projects.id').execute();

export async function findProject(db: Db, userId: string, id: string): Promise<MembersProject> {
  const [project] = await joined(db, userId).where('projects.id', id);
  if (!project) throw noProject();
  return project;
}
