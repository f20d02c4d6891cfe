import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { type ExecutionRef, failAt, leaveStep } from './advance.ts';
import { isActive, lockExecution } from './execution-state.ts';
import { openHeaders } from './sealed-headers.ts';
import { storedGraph } from './versions.ts';
import { findStep } from './walk.ts';
import type { WebhookOutcome, WebhookRequest } from './webhook-call.ts';

export interface PendingWebhook {
  /** Id of the visit: the same for every attempt. */
  id: string;
  projectId: string;
  request: WebhookRequest;
  /** The number of the next attempt. */
  attempt: number;
}

const find = statement<{ id: string; projectId: string; request: WebhookRequest; attempt: number }>(
  'webhook-pending',
  `select s.id, s.project_id, s.request, s.attempt from execution_steps s join executions e on e.id = s.execution_id
   where s.execution_id = $1 and s.visit = $2 and s.status = 'RUNNING' and s.request is not null
     and not coalesce((s.request -> 'outdated')::boolean, false) and e.generation = $3 and e.visit = s.visit and e.status = 'RUNNING'`,
);

/**
 * Returns the request of a visit, or undefined when it has its outcome, the execution has ended, or a move to another
 * version has changed the step: `advance` makes the request anew then.
 */
export async function pendingWebhook(
  db: Db,
  keys: SigningKeys,
  { executionId, generation }: ExecutionRef,
  visit: number,
): Promise<PendingWebhook | undefined> {
  const [row] = await find(db, [executionId, visit, generation]);
  if (!row) return undefined;
  const { id, projectId, attempt } = row;
  return { id, projectId, attempt, request: openHeaders(keys, projectId, row.request) };
}

const recordRetry = statement(
  'webhook-retry',
  `update execution_steps set attempt = attempt + 1, error = $3, output = coalesce($4::jsonb, output)
   where execution_id = $1 and visit = $2 and status = 'RUNNING'`,
);

/** Records the outcome of a call. A final outcome moves the execution on, or fails it. */
export async function resolveWebhook(db: Db, ref: ExecutionRef, visit: number, outcome: WebhookOutcome): Promise<void> {
  if (outcome.kind === 'retry') {
    const output = outcome.output ? JSON.stringify(outcome.output) : null;
    await recordRetry(db, [ref.executionId, visit, outcome.reason, output]);
    return;
  }
  await retryDeadlocks(db, () => inTransaction(db, (trx) => applyFinalOutcome(trx, ref, visit, outcome)));
}

async function applyFinalOutcome(
  trx: Db,
  { executionId, generation }: ExecutionRef,
  visit: number,
  outcome: Exclude<WebhookOutcome, { kind: 'retry' }>,
): Promise<void> {
  const execution = await lockExecution(trx, executionId);
  if (execution?.generation !== generation || execution.visit !== visit || !isActive(execution)) return;
  const graph = await storedGraph(trx, execution.workflowId, execution.version);
  const step = graph && findStep(graph, execution.currentStepId ?? '');
  if (!graph || !step) return;
  const output = outcome.output && { ...outcome.output };
  const stepVisit = { execution, graph, step };
  if (outcome.kind === 'failed') await failAt(trx, stepVisit, outcome.reason, { output });
  else await leaveStep(trx, stepVisit, 'next', { status: 'COMPLETED', output });
}
