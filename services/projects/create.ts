import { type Db, inTransaction } from '../../db/connect.ts';
import { Membership } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { UNLIMITED } from '../../platform/limits.ts';
import { hashToken } from '../../platform/secrets.ts';
import { newKeys, type ProjectKeys } from '../access/keys.ts';

export interface NewProject {
  name: string;
  ownerId: string;
  tracking?: Project['tracking'] | undefined;
  language?: string | undefined;
}

/** The secret key is in the answer and nowhere else: only its hash is kept. */
export async function createProject(
  db: Db,
  { ownerId, ...rest }: NewProject,
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
    return { project, ...keys };
  });
}

/** The projects that somebody owns; those they were invited to are other people's. */
async function requireRoomForProject(trx: Db, userId: string, max: number): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`projects/${userId}`]);
  const owned = await Membership.query(trx).where({ userId, role: 'OWNER' }).resultSize();
  if (owned >= max)
    throw new ApiError(409, 'CONFLICT', `You own ${max} projects, which is the limit.`, {
      suggestion: 'Delete one that is no longer used.',
    });
}
