import type { Db } from '../../db/connect.ts';
import type { Role } from '../../db/models/membership.ts';
import type { ProjectRow } from '../../db/models/project.ts';
import { statement } from '../../db/statement.ts';
import { noProject } from '../access/membership.ts';

export type MembersProject = ProjectRow & { role: Role };

const joined = (name: string, condition: string) =>
  statement<MembersProject>(
    name,
    `select p.*, m.role from projects p join memberships m on m.project_id = p.id
     where m.user_id = $1 and m.status = 'ACTIVE' and p.deleted_at is null and ${condition} order by p.id`,
  );
const list = joined('projects-of-user', 'true');
const find = joined('project-of-user', 'p.id = $2');

/** Lists the projects of a user, oldest first. */
export const listProjects = (db: Db, userId: string): Promise<MembersProject[]> => list(db, [userId]);

export async function findProject(db: Db, userId: string, id: string): Promise<MembersProject> {
  const [project] = await find(db, [userId, id]);
  if (!project) throw noProject();
  return project;
}
