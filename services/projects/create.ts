import { lockName } from '../../db/advisory-lock.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { Membership } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { hashToken } from '../../platform/crypto/secrets.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { UNLIMITED } from '../../platform/limits.ts';
import { newKeys, type ProjectKeys } from '../access/keys.ts';
import { type Actor, changesOf, recordAudit } from '../audit/record.ts';

export interface NewProject {
  name: string;
  ownerId: string;
  actor?: Actor | undefined;
  tracking?: Project['tracking'] | undefined;
  language?: string | undefined;
  timezone?: string | undefined;
}

/** Creates a project with its owner. The returned secret key cannot be read again: only its hash is stored. */
export async function createProject(
  db: Db,
  { ownerId, actor, ...rest }: NewProject,
  { projectsPerUser } = UNLIMITED,
): Promise<{ project: Project } & ProjectKeys> {
  const keys = newKeys();
  return inTransaction(db, async (trx) => {
    await requireRoomForProject(trx, ownerId, projectsPerUser);
    const project = await Project.query(trx).insertAndFetch({
      ...rest,
      id: newId(),
      publicKey: keys.publicKey,
      secretKeyHash: hashToken(keys.secretKey),
    });
    await Membership.query(trx).insert({ projectId: project.id, userId: ownerId, role: 'OWNER' });
    const { id: projectId, name } = project;
    await recordAudit(
      trx,
      { projectId, actor },
      { action: 'project.created', target: { type: 'project', id: projectId }, changes: changesOf({}, { name }) },
    );
    return { project, ...keys };
  });
}

/** Counts only projects that the user owns, not those they were invited to. */
async function requireRoomForProject(trx: Db, userId: string, max: number): Promise<void> {
  await lockName(trx, `projects/${userId}`);
  const owned = await Membership.query(trx).where({ userId, role: 'OWNER' }).resultSize();
  if (owned >= max)
    throw new ApiError(409, 'CONFLICT', `You have reached the limit of ${max} owned projects.`, {
      suggestion: 'Delete one you no longer use.',
    });
}
