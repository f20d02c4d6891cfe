import { WithStartWorkflowOperation, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import type { UpdateNames } from '../services/outbox/signals.ts';
import type { Temporal } from './connection.ts';
import type { NamespaceOwner } from './namespace-owner.ts';
import { taskQueues } from './task-queues.ts';

export interface DomainLoop {
  workflowId: string;
  workflowType: string;
  args: unknown[];
}

const CHECK_DOMAIN: UpdateNames['checkDomain'] = 'checkNow';

/**
 * Asks the Temporal workflow of a domain for a check, and starts the workflow if it is not running. The only API call that
 * waits for Temporal. `running`: the check is still running. `unavailable`: Temporal is unavailable.
 */
export async function requestDomainCheck(
  { client, check }: Temporal,
  { workflowType, workflowId, args }: DomainLoop,
  owner?: Pick<NamespaceOwner, 'verify'>,
): Promise<'checked' | 'running' | 'unavailable'> {
  // Checks first, because a call to an unavailable server waits for its whole deadline.
  if (!(await check())) return 'unavailable';
  const startWorkflowOperation = new WithStartWorkflowOperation(workflowType, {
    workflowId,
    args,
    taskQueue: taskQueues.workflows,
    workflowIdConflictPolicy: 'USE_EXISTING',
    // Restarts a workflow that was terminated by hand. One whose domain was deleted ends at once.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  });
  try {
    await owner?.verify();
    await client.workflow.executeUpdateWithStart(CHECK_DOMAIN, { startWorkflowOperation, args: [] });
    return 'checked';
  } catch (error) {
    return error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ? 'running' : 'unavailable';
  }
}
