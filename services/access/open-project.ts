import type { Db } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import { statement } from '../../db/statement.ts';
import { type ApiError, invalidKey, projectDisabled } from '../../platform/errors.ts';
import type { ProjectAccess } from './keys.ts';

/**
 * The caller's project, or nothing when its key was rotated or the project disabled since the caller was let in: no
 * statement that writes trusts a cache. Takes `$1` (project) and `$2` (key generation); `condition` is one more that
 * must hold.
 */
export const openProject = (condition = 'true'): string =>
  `(select id, senders_version from projects where id = $1 and key_generation = $2 and not disabled and ${condition})`;

const findOpen = statement<{ id: string }>('project-open', openProject());

export async function isOpenProject(db: Db, { projectId, keyGeneration }: ProjectAccess): Promise<boolean> {
  return (await findOpen(db, [projectId, keyGeneration])).length > 0;
}

/** For work of several statements: the first of its transaction. */
export async function requireOpenProject(trx: Db, project: ProjectAccess): Promise<void> {
  if (!(await isOpenProject(trx, project))) throw await refusal(trx, project);
}

/** Why there was none. */
export async function refusal(db: Db, { projectId, keyGeneration }: ProjectAccess): Promise<ApiError> {
  const project = await Project.query(db).findById(projectId);
  if (project?.keyGeneration !== keyGeneration) return invalidKey('This key has been replaced by a newer one.');
  return projectDisabled(project.disabledReason);
}
