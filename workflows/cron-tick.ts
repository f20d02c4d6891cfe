import {
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { TickActivities } from '../activities/ticks.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { pinned } from './pinned.ts';
import { timings } from './timings.ts';

export interface CronTickInput {
  workflowId: string;
  /** Sum of the runs that this one continues. */
  entered?: number;
}

const { enterContacts } = proxyActivities<TickActivities>({
  taskQueue: 'everpost-bulk' satisfies TaskQueues['bulk'],
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: timings.timeout,
  summary: 'lets contacts enter',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** Runs a tick of a SCHEDULE workflow: its contacts enter in slices of some seconds. */
export async function cronTick({ workflowId, entered = 0 }: CronTickInput): Promise<number> {
  // Temporal appends the time of the tick to the id of the Schedule, so each tick has its own id.
  const { workflowId: tick } = workflowInfo();
  for (let sum = entered; ; ) {
    const slice = await enterContacts(workflowId, tick);
    sum += slice.entered;
    setCurrentDetails(`${sum} contacts have entered`);
    if (slice.ended) return sum;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof cronTick>({ workflowId, entered: sum });
  }
}

setWorkflowOptions(pinned, cronTick);
