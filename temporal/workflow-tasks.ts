// What Temporal knows about a workflow task that fails again and again.
import { WorkflowNotFoundError } from '@temporalio/common';
import type { Temporal } from './connection.ts';

export interface WorkflowRun {
  workflowId: string;
  workflowType: string;
  runId: string;
}

/** Finds a running workflow by its run. */
export async function findRun({ client }: Temporal, runId: string): Promise<WorkflowRun | undefined> {
  const query = `RunId = "${runId.replaceAll(/[^a-zA-Z0-9-]/g, '')}" AND ExecutionStatus = "Running"`;
  for await (const { workflowId, type } of client.workflow.list({ query, pageSize: 1 }))
    return { workflowId, workflowType: type, runId };
  return undefined;
}

/** How often the pending workflow task has been tried: 1 for a normal one, 0 without one or when the run has ended. */
export async function taskAttempts(
  { client }: Temporal,
  { workflowId, runId }: Pick<WorkflowRun, 'workflowId' | 'runId'>,
): Promise<number> {
  try {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
    return raw.pendingWorkflowTask?.attempt ?? 0;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 0;
    throw error;
  }
}

/** Ends a run whose task cannot succeed. Nothing is lost: Postgres has its state. */
export async function terminateRun(
  { client }: Temporal,
  { workflowId, runId }: Pick<WorkflowRun, 'workflowId' | 'runId'>,
): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId, runId).terminate('its workflow task failed again and again');
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
