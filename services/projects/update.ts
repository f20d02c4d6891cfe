import type { Db } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import { noProject } from '../access/membership.ts';

export const trackings = ['ENABLED', 'DISABLED', 'MARKETING_ONLY'] as const;

export interface ProjectChange {
  name?: string | undefined;
  tracking?: Project['tracking'] | undefined;
  language?: string | undefined;
}

export async function updateProject(db: Db, id: string, change: ProjectChange): Promise<void> {
  const { name, tracking, language } = change;
  const changed = await Project.query(db)
    .findById(id)
    .whereNull('deletedAt')
    .patch({
      ...(name !== undefined && { name }),
      ...(tracking !== undefined && { tracking }),
      ...(language !== undefined && { language }),
      updatedAt: new Date(),
    });
  if (!changed) throw noProject();
}
