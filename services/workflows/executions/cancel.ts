import { type Db, wake } from '../../../db/connect.ts';
import { Execution } from '../../../db/models/execution.ts';
import { statement } from '../../../db/statement.ts';
import { ApiError } from '../../../platform/errors.ts';
import type { ProjectAccess } from '../../access/keys.ts';
import { writing } from '../../access/write-transaction.ts';
import { changesOf, recordAudit } from '../../audit/record.ts';
import { findWorkflow } from '../find.ts';
import { executionNotFound } from './find.ts';

/** Reason of executions and mail that end because their contact was deleted. */
export const CONTACT_DELETED = 'contact deleted';

const cancelStatement = (name: string, which: string) =>
  statement<{ cancelled: number }>(
    name,
    `select cancel_executions(array(
       select id from executions where status in ('RUNNING', 'WAITING') and ${which}), $1::text) as cancelled`,
  );

const cancelOne = cancelStatement('execution-cancel', 'id = $2::uuid');
const cancelAll = cancelStatement('executions-cancel-all', 'workflow_id = $2::uuid');
const cancelOfContacts = cancelStatement(
  'executions-cancel-contacts',
  'project_id = $2::uuid and contact_id = any ($3::uuid[])',
);

/** No step runs after this commits. */
export async function cancelExecution(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  id: string,
): Promise<Execution> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    const execution = await Execution.query(trx).findOne({ projectId, workflowId, id }).forUpdate();
    if (!execution) throw executionNotFound();
    await cancel(
      trx,
      () => cancelOne(trx, [null, id]),
      () => {
        throw new ApiError(409, 'CONFLICT', `This execution has already ended (${execution.status}).`);
      },
    );
    return execution.$query(trx);
  });
}

/** Cancels all active executions in one statement. Returns how many. */
export async function cancelAllExecutions(db: Db, project: ProjectAccess, workflowId: string): Promise<number> {
  return writing(db, project, async (trx) => {
    await findWorkflow(trx, project.projectId, workflowId);
    const cancelled = await cancel(trx, () => cancelAll(trx, [null, workflowId]));
    await recordAudit(trx, project, {
      action: 'workflow.executions_cancelled',
      target: { type: 'workflow', id: workflowId },
      changes: changesOf({}, { executions: cancelled }),
    });
    return cancelled;
  });
}

// Ended executions too: contexts and outputs contain data of the contact.
const erase = statement(
  'executions-erase',
  `with erased as (
     update executions set context = '{}' where project_id = $1 and contact_id = any ($2::uuid[]) returning id
   )
   update execution_steps s set output = null, request = null from erased
   where s.execution_id = erased.id and (s.output is not null or s.request is not null)`,
);

/** Cancels the executions of contacts that are locked and about to be deleted, and erases their personal data. */
export async function endExecutionsOf(trx: Db, projectId: string, contactIds: string[], reason: string): Promise<void> {
  await cancel(trx, () => cancelOfContacts(trx, [reason, projectId, contactIds]));
  await erase(trx, [projectId, contactIds]);
}

async function cancel(
  trx: Db,
  execute: () => Promise<{ cancelled: number }[]>,
  ifNone: () => void = () => {},
): Promise<number> {
  const [row] = await execute();
  const cancelled = row?.cancelled ?? 0;
  if (cancelled === 0) ifNone();
  else wake(trx, 'control');
  return cancelled;
}
