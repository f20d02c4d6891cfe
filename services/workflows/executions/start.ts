import type { Db } from '../../../db/connect.ts';
import { Contact } from '../../../db/models/contact.ts';
import { Execution } from '../../../db/models/execution.ts';
import { Workflow } from '../../../db/models/workflow.ts';
import { ApiError, badRequest, notFound } from '../../../platform/errors.ts';
import type { ProjectAccess } from '../../access/keys.ts';
import { writing } from '../../access/write-transaction.ts';
import type { Data } from '../../contacts/data.ts';
import { contactNotFound } from '../../contacts/save.ts';
import { enter } from './enter.ts';

export interface StartInput {
  contactId?: string | undefined;
  email?: string | undefined;
  context?: Data | undefined;
}

/** Starts an execution for one contact: 400 while the workflow is disabled, 409 when the contact may not enter (again). */
export async function startExecution(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  { contactId, email, context = {} }: StartInput,
): Promise<Execution> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    const workflow = await Workflow.query(trx).findOne({ projectId, id: workflowId }).forShare();
    if (!workflow) throw notFound('workflow', 'WORKFLOW_NOT_FOUND');
    const filter = contactId === undefined ? { email: email ?? '' } : { id: contactId };
    // Blocks a deletion of the contact until it can see the execution.
    const contact = await Contact.query(trx)
      .findOne({ projectId, ...filter })
      .forKeyShare();
    if (!contact) throw contactNotFound();
    const { enabled, validVersion: version, allowReentry } = workflow;
    if (!enabled || version === null)
      throw badRequest('This workflow is disabled.', { suggestion: 'Enable it with PATCH /workflows/:id.' });
    const entry = { projectId, workflowId, version, contactId: contact.id, context, afterPosition: null, depth: 0 };
    const [id] = await enter(trx, [{ ...entry, oncePerContact: !allowReentry }]);
    if (!id) throw reentryError(allowReentry);
    return Execution.query(trx).findById(id).throwIfNotFound();
  });
}

export const reentryError = (allowReentry: boolean): ApiError =>
  allowReentry
    ? new ApiError(409, 'CONFLICT', 'The contact is already in this workflow.')
    : new ApiError(409, 'CONFLICT', 'The contact has entered this workflow before, and it does not allow re-entry.', {
        suggestion: 'Set `allowReentry: true` on the workflow to let contacts enter again.',
      });
