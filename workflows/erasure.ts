import {
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { ProjectActivities } from '../activities/projects.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { pinned } from './pinned.ts';
import { timings } from './timings.ts';

export interface ErasureInput {
  erasureId: string;
}

const { eraseSlice } = proxyActivities<ProjectActivities>({
  taskQueue: 'everpost-bulk' satisfies TaskQueues['bulk'],
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: timings.timeout,
  // Retries without limit: an erasure must be completed.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** Erases a project in slices of some seconds. Postgres has the progress. */
export async function erasure({ erasureId }: ErasureInput): Promise<void> {
  for (;;) {
    const { ended, deleted } = await eraseSlice(erasureId);
    setCurrentDetails(`${deleted} rows deleted`);
    if (ended) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof erasure>({ erasureId });
  }
}

setWorkflowOptions(pinned, erasure);
