import type { Db } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import { statement } from '../../db/statement.ts';
import { type ApiError, invalidKey, projectDisabled } from '../../platform/errors.ts';
import type { ProjectAccess } from './keys.ts';

/**
 * A subquery that returns the caller's project, or no row when its key was rotated or the project disabled since
 * authentication: statements that write do not trust a cache. Takes `$1` (project) and `$2` (key generation);
 * `condition` is an additional predicate.
 */
export const openProject = (condition = 'true'): string =>
  `(select id, senders_version from projects where id = $1 and key_generation = $2 and not disabled and ${condition})`;

const findOpen = statement<{ id: string }>('project-open', openProject());

export async function isOpenProject(db: Db, { projectId, keyGeneration }: ProjectAccess): Promise<boolean> {
  return (await findOpen(db, [projectId, keyGeneration])).length > 0;
}

/** Call it first in a transaction of several statements. */
export async function requireOpenProject(trx: Db, project: ProjectAccess): Promise<void> {
  if (!(await isOpenProject(trx, project))) throw await refusal(trx, project);
}

/** Returns why `openProject` had no row. */
export async function refusal(db: Db, { projectId, keyGeneration }: ProjectAccess): Promise<ApiError> {
  const project = await Project.query(db).findById(projectId);
  if (project?.keyGeneration !== keyGeneration) return invalidKey('This key has been replaced by a newer one.');
  return projectDisabled(project.disabledReason);
}
