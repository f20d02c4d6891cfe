import { WithStartWorkflowOperation } from '@temporalio/client';
import { attributesOf } from './carry-out.ts';
import type { Temporal } from './connection.ts';
import { taskQueues } from './task-queues.ts';

export interface DomainLoop {
  workflowId: string;
  workflowType: string;
  args: unknown[];
  projectId: string;
  resourceId: string;
}

/** Longer than a name server that does not answer is waited for, shorter than most clients wait for us. */
const DEADLINE_MS = 12_000;

/**
 * The one call of the API that waits for Temporal: the loop of a domain checks it now, and is started where it is not
 * there. `late`: it is under way and goes on. `away`: nobody could be asked.
 */
export async function checkDomainNow(
  { client, connection, check }: Temporal,
  { workflowType, workflowId, args, ...ids }: DomainLoop,
  deadlineMs = DEADLINE_MS,
): Promise<'checked' | 'late' | 'away'> {
  // Asked first, because a call to a server that is away waits for its whole deadline.
  if (!(await check())) return 'away';
  const startWorkflowOperation = new WithStartWorkflowOperation(workflowType, {
    workflowId,
    args,
    taskQueue: taskQueues.workflows,
    workflowIdConflictPolicy: 'USE_EXISTING',
    // One that was ended by hand is brought back by this; one whose domain is gone ends at once.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    typedSearchAttributes: attributesOf(ids),
  });
  const deadline = Date.now() + deadlineMs;
  try {
    await connection.withDeadline(deadline, () =>
      client.workflow.executeUpdateWithStart('checkNow', { startWorkflowOperation, args: [] }),
    );
    return 'checked';
  } catch {
    return Date.now() >= deadline ? 'late' : 'away';
  }
}
