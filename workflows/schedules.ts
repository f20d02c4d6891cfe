import { proxyActivities } from '@temporalio/workflow';
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
