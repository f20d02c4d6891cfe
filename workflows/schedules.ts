import { proxyActivities, setWorkflowOptions } from '@temporalio/workflow';
import type { FormActivities } from '../activities/forms.ts';
import type { ReconcilerActivities } from '../activities/reconciler.ts';
import type { RetentionActivities } from '../activities/retention.ts';
import type { SegmentActivities } from '../activities/segments.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { pinned } from './pinned.ts';
import { timings } from './timings.ts';

const { sweepSegments } = proxyActivities<SegmentActivities>({
  taskQueue: 'everpost-bulk' satisfies TaskQueues['bulk'],
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: timings.timeout,
  // The Schedule starts the next sweep after a minute.
  retry: { maximumAttempts: 3 },
});

/** Every minute: records contacts that entered or left a tracked segment because time passed. */
export async function segmentSweep(): Promise<void> {
  await sweepSegments();
}

const { carryOutSubmissions } = proxyActivities<FormActivities>({
  taskQueue: 'everpost-bulk' satisfies TaskQueues['bulk'],
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: timings.timeout,
  // The Schedule starts the next one after a minute.
  retry: { maximumAttempts: 3 },
});

/** Every minute: sends reminders of confirmations, lets those expire that were not answered, and erases addresses. */
export async function formTimer(): Promise<void> {
  await carryOutSubmissions();
}

const { removeOld } = proxyActivities<RetentionActivities>({
  taskQueue: 'everpost-bulk' satisfies TaskQueues['bulk'],
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: timings.timeout,
  retry: { maximumAttempts: 3 },
});

/** Every hour: deletes events and mail bodies that are older than the retention settings allow. */
export async function retention(): Promise<void> {
  await removeOld();
}

const { reconcileAll } = proxyActivities<ReconcilerActivities>({
  taskQueue: 'everpost-executions' satisfies TaskQueues['executions'],
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: timings.reconcilerTimeout,
  summary: 'compares open workflows with Postgres',
  retry: { maximumAttempts: 3 },
});

/** Every few minutes: restarts what is active in Postgres and missing in Temporal. */
export async function reconciler(): Promise<Awaited<ReturnType<typeof reconcileAll>>> {
  return reconcileAll();
}

setWorkflowOptions(pinned, segmentSweep);
setWorkflowOptions(pinned, formTimer);
setWorkflowOptions(pinned, retention);
setWorkflowOptions(pinned, reconciler);
