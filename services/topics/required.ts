import type { Db } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';

/** Whether MARKETING and HEADLESS email of the project needs a topic. */
export async function isTopicRequired(db: Db, projectId: string): Promise<boolean> {
  return (await Project.query(db).findById(projectId).select('topicRequired'))?.topicRequired ?? false;
}
