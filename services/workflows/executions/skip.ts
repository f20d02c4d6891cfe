import type { Db } from '../../../db/connect.ts';
import { Execution } from '../../../db/models/execution.ts';
import { ApiError } from '../../../platform/errors.ts';
import type { ProjectAccess } from '../../access/keys.ts';
import { writing } from '../../access/write-transaction.ts';
import { workflowIds } from '../../outbox/ids.ts';
import { signalNames } from '../../outbox/signals.ts';
import { writeOutboxMessage } from '../../outbox/write.ts';
import { leaveByTime } from '../advance.ts';
import { lockExecution } from '../execution-state.ts';
import { storedGraph } from '../versions.ts';
import { findStep } from '../walk.ts';
import { executionNotFound } from './find.ts';

/** Ends a delay now, or a wait as if its time-out had passed. */
export async function skipExecution(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  id: string,
): Promise<Execution> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    const known = await Execution.query(trx).findOne({ projectId, workflowId, id });
    const execution = known && (await lockExecution(trx, id));
    if (!execution) throw executionNotFound();
    const { status, generation, currentStepId } = execution;
    if (status !== 'WAITING')
      throw new ApiError(409, 'CONFLICT', `Only WAITING executions can skip a wait; this one is ${status}.`);
    const graph = await storedGraph(trx, workflowId, execution.version);
    const step = graph && findStep(graph, currentStepId ?? '');
    if (!graph || !step) throw new ApiError(409, 'CONFLICT', 'The graph of this execution no longer exists.');
    await leaveByTime(trx, { execution, graph, step }, null, { status: 'SKIPPED' });
    await writeOutboxMessage(trx, {
      queue: 'control',
      action: 'signal',
      signal: signalNames.refresh,
      workflowId: workflowIds.execution(projectId, id, generation),
      projectId,
    });
    return Execution.query(trx).findById(id).throwIfNotFound();
  });
}
