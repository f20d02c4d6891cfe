import { type Db, inTransaction } from '../../db/connect.ts';
import { Suppression } from '../../db/models/suppression.ts';
import { notFound } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireOpenProject } from '../access/open-project.ts';

/** Allows mail to an address again. Does not change the subscription of its contact. */
export async function removeSuppression(db: Db, project: ProjectAccess, email: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    await requireOpenProject(trx, project);
    const { projectId } = project;
    const removed = await Suppression.query(trx)
      .where({ projectId })
      .whereRaw('address_hash = address_hash(?::uuid, ?)', [projectId, email])
      .delete();
    if (removed === 0) throw notFound('suppressed address');
  });
}
