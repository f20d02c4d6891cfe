import { WithStartWorkflowOperation } from '@temporalio/client';
import type { UpdateNames } from '../services/outbox/signals.ts';
import type { Temporal } from './connection.ts';
import type { NamespaceOwner } from './namespace-owner.ts';
import { taskQueues } from './task-queues.ts';

export interface DomainLoop {
  workflowId: string;
  workflowType: string;
  args: unknown[];
}

/** Longer than the DNS time-outs of a check, shorter than the time-outs of most HTTP clients. */
const DEADLINE_MS = 12_000;
const CHECK_DOMAIN: UpdateNames['checkDomain'] = 'checkNow';

/**
 * Asks the Temporal workflow of a domain for a check, and starts the workflow if it is not running. The only API call that
 * waits for Temporal. `running`: the check is still running. `unavailable`: Temporal is unavailable.
 */
export async function requestDomainCheck(
  { client, connection, check }: Temporal,
  { workflowType, workflowId, args }: DomainLoop,
  { deadlineMs = DEADLINE_MS, owner }: { deadlineMs?: number; owner?: Pick<NamespaceOwner, 'verify'> } = {},
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
  const deadline = Date.now() + deadlineMs;
  try {
    await owner?.verify();
    await connection.withDeadline(deadline, () =>
      client.workflow.executeUpdateWithStart(CHECK_DOMAIN, { startWorkflowOperation, args: [] }),
    );
    return 'checked';
  } catch {
    return Date.now() >= deadline ? 'running' : 'unavailable';
  }
}
