import { continueAsNew, proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { JobActivities } from '../activities/jobs.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';

export interface JobInput {
  jobId: string;
}

const { runJobSlice } = proxyActivities<JobActivities>({
  taskQueue: 'everpost-bulk' satisfies TaskQueues['bulk'],
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  // Without end: which failures are final is decided where they can be told apart.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** Carries a job on, some seconds at a time, so that its progress can be seen here too. Its place is in Postgres. */
export async function job({ jobId }: JobInput): Promise<void> {
  for (;;) {
    const { ended, processed, total } = await runJobSlice(jobId);
    setCurrentDetails(`${processed} of ${total} done`);
    if (ended) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof job>({ jobId });
  }
}
