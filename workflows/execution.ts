import { defineSearchAttributeKey, TemporalFailure } from '@temporalio/common';
import {
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Advanced, ExecutionActivities, WebhookActivities } from '../activities/executions.ts';
import type { ExecutionRef } from '../services/workflows/advance.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';

export type ExecutionInput = ExecutionRef;

/** Carries no state: whatever it is about stands in the execution's row. */
export const lookAgain = defineSignal('lookAgain');

const stepType = defineSearchAttributeKey('StepType', 'KEYWORD');
/** Clocks differ: a worker may find that it is not time yet. */
const SHORTEST_REST_MS = 200;

const summary = 'takes steps until it must wait';

const { advanceExecution } = proxyActivities<ExecutionActivities>({
  taskQueue: 'everpost-executions' satisfies TaskQueues['executions'],
  // Short, so that what a worker has died with is soon taken up by another: a step that is done is not done again.
  startToCloseTimeout: '20 seconds',
  summary,
  // Without end: which failures are final is decided where they can be told apart.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

// Tried once, and well within the time that a workflow task has.
const here = proxyLocalActivities<ExecutionActivities>({
  startToCloseTimeout: '4 seconds',
  scheduleToCloseTimeout: '6 seconds',
  summary,
  retry: { maximumAttempts: 1 },
});

const { callExecutionWebhook } = proxyActivities<WebhookActivities>({
  // A queue of their own: receivers that take their time hold up nobody but one another.
  taskQueue: 'everpost-webhooks' satisfies TaskQueues['webhooks'],
  startToCloseTimeout: '30 seconds',
  summary: 'calls a webhook',
  // The activity gives up after a day by itself, and tells the receiver's own wish as the next delay.
  retry: { initialInterval: '10 seconds', backoffCoefficient: 2, maximumInterval: '1 hour' },
});

/** A contact on its way through a workflow. Every step is taken, and recorded, in Postgres; what is here is time. */
export async function execution(ref: ExecutionInput): Promise<string> {
  let nudged = false;
  let restedAt = '';
  setHandler(lookAgain, () => {
    nudged = true;
  });
  const tellWhereItRests = (type: string) => {
    if (type !== restedAt) upsertSearchAttributes([{ key: stepType, value: type }]);
    restedAt = type;
  };
  // Asked once: those that were started before go on as they began.
  const advance = patched('advances-here') ? advanceHere : advanceExecution;
  for (;;) {
    nudged = false;
    const next = await advance(ref);
    setCurrentDetails(next.details);
    if (next.kind === 'end') return next.status;
    if (next.kind === 'webhook') {
      tellWhereItRests('WEBHOOK');
      await callExecutionWebhook(ref, next.visit);
    }
    if (next.kind === 'rest') {
      tellWhereItRests(next.stepType);
      await rest(() => nudged, next);
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof execution>(ref);
  }
}

async function rest(isOver: () => boolean, { until, summary }: { until: number | undefined; summary: string }) {
  if (until === undefined) await condition(isOver);
  else await condition(isOver, Math.max(until - Date.now(), SHORTEST_REST_MS), { summary });
}

/**
 * Mostly it takes milliseconds, and is done where the workflow task is: an execution without an activity of its own costs
 * Temporal half as much. What does not succeed there at once is left to an activity, with its retries.
 */
async function advanceHere(ref: ExecutionRef): Promise<Advanced> {
  try {
    return await here.advanceExecution(ref);
  } catch (error) {
    if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
    return advanceExecution(ref);
  }
}
