import type { Db } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import { statement } from '../../db/statement.ts';
import { type ApiError, invalidKey, projectDisabled } from '../../platform/errors.ts';
import type { ProjectAccess } from './keys.ts';

/**
 * A subquery that returns the caller's project, or no row when its key was replaced, revoked or expired, or the project
 * disabled since authentication: statements that write do not trust a cache. Takes `$1` (project), `$2` (key generation)
 * and, as the parameter `key`, the id of a scoped key. One of the last two is null: a change of one key never affects
 * the callers with another.
 */
export const openProject = (key: `$${number}`): string =>
  `(select id, senders_version, public_key_events, public_key_origins from projects where id = $1 and not disabled and (key_generation = $2 or exists (
     select 1 from scoped_keys k where k.id = ${key}::uuid and k.project_id = $1 and k.revoked_at is null
       and (k.expires_at is null or k.expires_at > now()))))`;

/** The value of the parameter `key`. */
export const keyIdOf = ({ key }: ProjectAccess): string | null => key?.id ?? null;

/** Names the caller's key: requests that share a statement must have the same one. */
export const callerGroup = ({ projectId, keyGeneration, key }: ProjectAccess): string =>
  `${projectId}/${key?.id ?? keyGeneration}`;

const findOpen = statement<{ id: string }>('project-open', openProject('$3'));

export async function isOpenProject(db: Db, project: ProjectAccess): Promise<boolean> {
  return (await findOpen(db, [project.projectId, project.keyGeneration, keyIdOf(project)])).length > 0;
}

/** Call it first in a transaction of several statements. */
export async function requireOpenProject(trx: Db, project: ProjectAccess): Promise<void> {
  if (!(await isOpenProject(trx, project))) throw await refusal(trx, project);
}

const findKey = statement<{ revokedAt: Date | null; expiresAt: Date | null }>(
  'scoped-key-ends',
  'select revoked_at, expires_at from scoped_keys where project_id = $1 and id = $2',
);

/** Returns why `openProject` had no row. */
export async function refusal(db: Db, { projectId, keyGeneration, key }: ProjectAccess): Promise<ApiError> {
  const project = await Project.query(db).findById(projectId);
  if (!project || project.deletedAt !== null) return invalidKey('The project of this key has been deleted.');
  if (key) {
    const [found] = await findKey(db, [projectId, key.id]);
    if (!found || found.revokedAt !== null) return invalidKey('This key has been revoked.');
    if (found.expiresAt !== null && found.expiresAt <= new Date()) return invalidKey('This key has expired.');
  } else if (project.keyGeneration !== keyGeneration) return invalidKey('This key has been replaced by a newer one.');
  return projectDisabled(project.disabledReason);
}
