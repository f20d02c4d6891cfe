import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { Db } from '../db/connect.ts';
import { CallShares } from '../platform/call-shares.ts';
import type { SigningKeys } from '../platform/crypto/signed-token.ts';
import { faultPoint } from '../platform/fault-points.ts';
import type { OutboundHttp } from '../platform/http/outbound-http.ts';
import { inSpan } from '../platform/tracing.ts';
import { webhookSecret } from '../services/projects/webhook-secret.ts';
import {
  advance,
  type ExecutionAdvanceDeps,
  type ExecutionRef,
  failExecution,
  type Next,
} from '../services/workflows/advance.ts';
import { describeSteps } from '../services/workflows/describe-steps.ts';
import { callWebhook } from '../services/workflows/webhook-call.ts';
import { pendingWebhook, resolveWebhook } from '../services/workflows/webhook-step.ts';
import { FailureCounter, MAX_FAILURES } from './failure-counter.ts';

export interface WebhookActivityDeps {
  db: Db;
  http: OutboundHttp;
  keys: SigningKeys;
  now: () => Date;
}

/** `details` is for operators: types and ids only, no customer data. */
export type Advanced = { details: string } & (
  | Exclude<Next, { kind: 'rest' }>
  | (Extract<Next, { kind: 'rest' }> & { summary: string })
);

const INTERNAL_FAILURE = `the step failed ${MAX_FAILURES} times because of an internal error`;
const GIVE_UP_MS = 24 * 60 * 60 * 1000;

export const executionActivities = (deps: ExecutionAdvanceDeps) => {
  const failures = new FailureCounter();
  return {
    async advanceExecution(ref: ExecutionRef): Promise<Advanced> {
      const { executionId } = ref;
      try {
        const next = await inSpan('advance execution', { row: executionId, kind: 'consumer' }, () =>
          advance(deps, ref),
        );
        const advanced = describe(next, await describeSteps(deps.db, executionId));
        failures.succeeded(executionId);
        return advanced;
      } catch (error) {
        if (!failures.isFinal(executionId, error)) throw error;
        // The customer sees that the step failed; the cause is for the operator's log only.
        Context.current().log.error('execution failed after repeated internal errors', { error, executionId });
        await failExecution(deps.db, ref, INTERNAL_FAILURE);
        return { kind: 'end', status: 'FAILED', details: '' };
      }
    },
  };
};

export type ExecutionActivities = ReturnType<typeof executionActivities>;

export const webhookActivities = ({ db, http, keys, now }: WebhookActivityDeps) => {
  const shares = new CallShares();
  return {
    /** Makes one attempt. Returns when the final outcome is in Postgres; throws to be retried by Temporal. */
    async callExecutionWebhook(ref: ExecutionRef, visit: number): Promise<void> {
      const { info, cancellationSignal } = Context.current();
      const pending = await pendingWebhook(db, keys, ref, visit);
      if (!pending) return;
      const { id, projectId, request, attempt } = pending;
      const secret = await webhookSecret(db, keys, projectId);
      const share = await shares.enter(projectId, receiverOf(projectId, request.url), cancellationSignal);
      // Gives its slot back to calls of other projects. No attempt was made.
      if (!share)
        throw retryLater('the project makes too many calls at once', 'WebhookWaits', shares.returnDelayMs(projectId));
      const began = performance.now();
      const outcome = await callWebhook(
        http,
        { id, projectId, secret, now: now(), request },
        cancellationSignal,
      ).finally(() => {
        share.report(performance.now() - began);
        share.leave();
      });
      faultPoint('step-webhook-called');
      const elapsedMs = info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs;
      if (outcome.kind !== 'retry') return resolveWebhook(db, ref, visit, outcome);
      if (elapsedMs > GIVE_UP_MS) return resolveWebhook(db, ref, visit, { ...outcome, kind: 'failed' });
      await resolveWebhook(db, ref, visit, outcome);
      throw retryLater(outcome.reason, 'WebhookRetry', outcome.retryAfterMs ?? retryDelayMs(attempt));
    },
  };
};

const FIRST_RETRY_MS = 10_000;
const LONGEST_RETRY_MS = 60 * 60 * 1000;

/** Counts attempts that were made; Temporal's own schedule would also count those that waited for their turn. */
const retryDelayMs = (attempt: number): number => Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS);

const retryLater = (message: string, type: string, nextRetryDelay: number): ApplicationFailure =>
  ApplicationFailure.create({ message, type, category: ApplicationFailureCategory.BENIGN, nextRetryDelay });

const receiverOf = (projectId: string, url: string): string =>
  `${projectId} ${URL.canParse(url) ? new URL(url).host : ''}`;

function describe(next: Next, steps: string): Advanced {
  if (next.kind !== 'rest') return { ...next, details: steps };
  const { stepType, event, until } = next;
  const time = until === undefined ? 'without a time-out' : `until ${new Date(until).toISOString()}`;
  const summary = `${stepType}${event === undefined ? '' : ` ${event}`} ${time}`;
  return { ...next, summary, details: `${steps}\n\nwaiting: ${summary}` };
}

export type WebhookActivities = ReturnType<typeof webhookActivities>;
