import type { Db } from '../../db/connect.ts';
import { ApiError } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { recordAudit } from '../audit/record.ts';
import { lockTemplate } from '../templates/find.ts';
import { usageOf } from '../usage/template.ts';

/** Keeps the mails and events of the template. */
export async function deleteTemplate(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await writing(db, project, async (trx) => {
    const template = await lockTemplate(trx, project.projectId, id);
    const {
      canDelete,
      workflowSteps: [step],
    } = await usageOf(trx, project.projectId, id);
    if (!canDelete) {
      const user = step ? `the workflow "${step.workflowName}"` : 'something';
      throw new ApiError(409, 'CONFLICT', `The template is used by ${user} and cannot be deleted.`);
    }
    await template.$query(trx).delete();
    await recordAudit(trx, project, {
      action: 'template.deleted',
      target: { type: 'template', id },
      changes: { name: { from: template.name, to: null } },
    });
  });
}
