import { UniqueViolationError } from 'objection';
import type { Db } from '../../../db/connect.ts';
import { Execution } from '../../../db/models/execution.ts';
import { ApiError } from '../../../platform/errors.ts';
import type { ProjectAccess } from '../../access/keys.ts';
import { writing } from '../../access/write-transaction.ts';
import { executionNotFound } from './find.ts';
import { reentryError } from './start.ts';
import { writeStartMessage } from './start-message.ts';

/** Retries the failed step of a FAILED execution, on the version that it was on. */
export async function retryExecution(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  id: string,
): Promise<Execution> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    const execution = await Execution.query(trx).findOne({ projectId, workflowId, id }).forUpdate();
    if (!execution) throw executionNotFound();
    const { status } = execution;
    if (status !== 'FAILED')
      throw new ApiError(409, 'CONFLICT', `Only FAILED executions can be retried; this one is ${status}.`);
    return resumeExecution(trx, execution);
  }).catch((error: unknown) => {
    // The contact has entered again, and that execution is active.
    if (error instanceof UniqueViolationError) throw reentryError(true);
    throw error;
  });
}

/** Restarts an execution at its current step, as a new Temporal workflow. The caller has locked its row. */
export async function resumeExecution(trx: Db, execution: Execution): Promise<Execution> {
  const resumed = await execution.$query(trx).patchAndFetch({
    status: execution.status === 'WAITING' ? 'WAITING' : 'RUNNING',
    generation: execution.generation + 1,
    error: null,
    completedAt: null,
    updatedAt: new Date(),
  });
  await writeStartMessage(trx, resumed);
  return resumed;
}
