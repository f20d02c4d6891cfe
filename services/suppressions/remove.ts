import type { Db } from '../../db/connect.ts';
import { removeSuppressionOf } from '../../db/models/suppression.ts';
import { notFound } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { recordAudit } from '../audit/record.ts';

/** Allows mail to an address again. Does not change the subscription of its contact. */
export async function removeSuppression(db: Db, project: ProjectAccess, email: string): Promise<void> {
  await writing(db, project, async (trx) => {
    const { projectId } = project;
    const removed = await removeSuppressionOf(trx, projectId, email);
    if (!removed) throw notFound('suppressed address');
    const { id, contactId, reason } = removed;
    // The address itself is not recorded: it could not be erased.
    await recordAudit(trx, project, {
      action: 'suppression.removed',
      target: contactId ? { type: 'contact', id: contactId } : { type: 'suppression', id },
      changes: { reason: { from: reason, to: null } },
    });
  });
}
