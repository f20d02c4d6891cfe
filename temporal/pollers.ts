import type { Temporal } from './connection.ts';
import { DEPLOYMENT } from './deployment.ts';
import { taskQueues } from './task-queues.ts';

/** `TASK_QUEUE_TYPE_…` of Temporal's API. */
const WORKFLOW = 1;
const ACTIVITY = 2;
/** A poll is answered or repeated within a minute. */
const RECENT_MS = 2 * 60_000;

/** Returns the task queues that no worker has polled in the last two minutes. */
export async function unpolledQueues(temporal: Temporal, recentMs = RECENT_MS): Promise<string[]> {
  const silent: string[] = [];
  for (const taskQueue of Object.values(taskQueues))
    if (!(await isPolled(temporal, taskQueue, recentMs))) silent.push(taskQueue);
  return silent;
}

async function isPolled({ connection, namespace }: Temporal, taskQueue: string, recentMs: number): Promise<boolean> {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: taskQueue === taskQueues.workflows ? WORKFLOW : ACTIVITY,
  });
  return (pollers ?? []).some(({ lastAccessTime, deploymentOptions }) => {
    const at = Number(lastAccessTime?.seconds?.toString() ?? 0) * 1_000;
    return Date.now() - at < recentMs && (deploymentOptions?.deploymentName || DEPLOYMENT) === DEPLOYMENT;
  });
}
