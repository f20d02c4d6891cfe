import { type Db, inTransaction } from '../../db/connect.ts';
import { Membership } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { newId } from '../../platform/ids.ts';
import { hashToken } from '../../platform/secrets.ts';
import { newKeys, type ProjectKeys } from './keys.ts';

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
): Promise<{ project: Project } & ProjectKeys> {
  const keys = newKeys();
  return inTransaction(db, async (trx) => {
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
