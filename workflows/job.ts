import {
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { JobActivities } from '../activities/jobs.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { pinned } from './pinned.ts';
import { timings } from './timings.ts';

export interface JobInput {
  jobId: string;
}

const { runJobSlice } = proxyActivities<JobActivities>({
  taskQueue: 'everpost-bulk' satisfies TaskQueues['bulk'],
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: timings.timeout,
  // Retries without limit: the activity decides which failures are final.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** Runs a job in slices of some seconds, so that its progress is visible in Temporal too. Postgres has the progress. */
export async function job({ jobId }: JobInput): Promise<void> {
  for (;;) {
    const { ended, processed, total } = await runJobSlice(jobId);
    setCurrentDetails(`${processed} of ${total} done`);
    if (ended) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof job>({ jobId });
  }
}

setWorkflowOptions(pinned, job);
