import { continueAsNew, proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { TickActivities } from '../activities/ticks.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';

export interface CronTickInput {
  workflowId: string;
  /** By the runs before this one. */
  entered?: number;
}

const { enterContacts } = proxyActivities<TickActivities>({
  taskQueue: 'everpost-bulk' satisfies TaskQueues['bulk'],
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  summary: 'has contacts enter',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** A tick of a workflow with a schedule: its contacts enter, some seconds' worth at a time. */
export async function cronTick({ workflowId, entered = 0 }: CronTickInput): Promise<number> {
  // Temporal adds the time of the tick to the id of its Schedule: one name for each tick.
  const { workflowId: tick } = workflowInfo();
  for (let sum = entered; ; ) {
    const slice = await enterContacts(workflowId, tick);
    sum += slice.entered;
    setCurrentDetails(`${sum} contacts have entered`);
    if (slice.ended) return sum;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof cronTick>({ workflowId, entered: sum });
  }
}
