import { defineSearchAttributeKey, TemporalFailure } from '@temporalio/common';
import {
  condition,
  continueAsNew,
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
import { refresh } from './signals.ts';
import { timings } from './timings.ts';

export type ExecutionInput = ExecutionRef;

const stepType = defineSearchAttributeKey('StepType', 'KEYWORD');
/** Clocks differ: by a worker's clock it may be too early still. */
const SHORTEST_REST_MS = 200;

const summary = 'takes steps until the execution waits or ends';

const { advanceExecution } = proxyActivities<ExecutionActivities>({
  taskQueue: 'everpost-executions' satisfies TaskQueues['executions'],
  // Short, so that another worker soon continues after a crash. Completed steps are not repeated.
  startToCloseTimeout: timings.advanceTimeout,
  summary,
  // Retries without limit: the activity decides which failures are final.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

// One attempt, well within the time-out of a workflow task.
const localActivities = proxyLocalActivities<ExecutionActivities>({
  startToCloseTimeout: '4 seconds',
  scheduleToCloseTimeout: '6 seconds',
  summary,
  retry: { maximumAttempts: 1 },
});

const { callExecutionWebhook } = proxyActivities<WebhookActivities>({
  // A queue of their own, so that slow receivers delay only other webhooks.
  taskQueue: 'everpost-webhooks' satisfies TaskQueues['webhooks'],
  startToCloseTimeout: timings.webhookTimeout,
  summary: 'calls a webhook',
  // The activity gives up after a day, and passes on the receiver's Retry-After as the next delay.
  retry: { initialInterval: '10 seconds', backoffCoefficient: 2, maximumInterval: '1 hour' },
});

/** Runs an execution. Steps are taken and recorded in Postgres; this workflow only keeps time. */
export async function execution(ref: ExecutionInput): Promise<string> {
  let signalled = false;
  let shownStepType = '';
  setHandler(refresh, () => {
    signalled = true;
  });
  const showStepType = (type: string) => {
    if (type !== shownStepType) upsertSearchAttributes([{ key: stepType, value: type }]);
    shownStepType = type;
  };
  // Evaluated once: workflows that started before the patch keep using the activity.
  const advance = patched('advances-here') ? advanceLocally : advanceExecution;
  for (;;) {
    signalled = false;
    const next = await advance(ref);
    setCurrentDetails(next.details);
    if (next.kind === 'end') return next.status;
    if (next.kind === 'webhook') {
      showStepType('WEBHOOK');
      await callExecutionWebhook(ref, next.visit);
    }
    if (next.kind === 'rest') {
      showStepType(next.stepType);
      await rest(() => signalled, next);
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof execution>(ref);
  }
}

async function rest(isOver: () => boolean, { until, summary }: { until: number | undefined; summary: string }) {
  if (until === undefined) await condition(isOver);
  else await condition(isOver, Math.max(until - Date.now(), SHORTEST_REST_MS), { summary });
}

/**
 * Advances in a local activity first, which mostly takes milliseconds and costs Temporal half as much as an activity. Falls
 * back to the activity, with its retries, when that fails.
 */
async function advanceLocally(ref: ExecutionRef): Promise<Advanced> {
  try {
    return await localActivities.advanceExecution(ref);
  } catch (error) {
    if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
    return advanceExecution(ref);
  }
}
