import { proxyActivities } from '@temporalio/workflow';
import type { ReconcilerActivities } from '../activities/reconciler.ts';
import type { RetentionActivities } from '../activities/retention.ts';
import type { SegmentActivities } from '../activities/segments.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';

const { sweepSegments } = proxyActivities<SegmentActivities>({
  taskQueue: 'everpost-bulk' satisfies TaskQueues['bulk'],
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  // The next minute brings the next one.
  retry: { maximumAttempts: 3 },
});

/** Every minute: contacts that time alone has moved into or out of a tracked segment. */
export async function segmentSweep(): Promise<void> {
  await sweepSegments();
}

const { removeOld } = proxyActivities<RetentionActivities>({
  taskQueue: 'everpost-bulk' satisfies TaskQueues['bulk'],
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '10 seconds',
  retry: { maximumAttempts: 3 },
});

/** Every hour: events and bodies of mail that are older than they shall get. */
export async function retention(): Promise<void> {
  await removeOld();
}

const { reconcileAll } = proxyActivities<ReconcilerActivities>({
  taskQueue: 'everpost-executions' satisfies TaskQueues['executions'],
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '1 minute',
  summary: 'compares what is open with what ought to be',
  retry: { maximumAttempts: 3 },
});

/** Every few minutes: what Postgres says is under way and Temporal has lost is brought back. */
export async function reconciler(): Promise<Awaited<ReturnType<typeof reconcileAll>>> {
  return reconcileAll();
}
