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
    const { workflowSteps, confirmations = [] } = await usageOf(trx, project.projectId, id);
    const [step] = workflowSteps;
    const [confirmation] = confirmations;
    if (step) throw inUse(`the workflow "${step.workflowName}"`);
    if (confirmation) throw inUse(`the ${confirmation.type === 'FORM' ? 'form' : 'topic'} "${confirmation.name}"`);
    await template.$query(trx).delete();
    await recordAudit(trx, project, {
      action: 'template.deleted',
      target: { type: 'template', id },
      changes: { name: { from: template.name, to: null } },
    });
  });
}

const inUse = (by: string): ApiError =>
  new ApiError(409, 'CONFLICT', `The template is used by ${by} and cannot be deleted.`);
