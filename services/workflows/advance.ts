import { type Db, inTransaction } from '../../db/connect.ts';
import type { ContactRecord } from '../../db/models/contact.ts';
import { Execution, ExecutionStep } from '../../db/models/execution.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { SealError } from '../../platform/crypto/seal.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { type Data, mergedTooLarge } from '../contacts/data.ts';
import { isDataTooLarge } from '../contacts/violations.ts';
import { type ExecutionState, isActive, lockExecution, readExecution } from './execution-state.ts';
import { CONTACT_DELETED } from './executions/cancel.ts';
import { branchOf, type Graph, type Step, type StepExit } from './graph.ts';
import { type Effects, type NextState, StaleExecution, type StepRecord, writeExecutionStep } from './records.ts';
import { openStep, sealHeaders } from './sealed-headers.ts';
import { executionEnvironment, type RunDeps } from './step-environment.ts';
import { stepTypeOf } from './steps/index.ts';
import { failStep, type StepEnvironment, type StepOutcome } from './steps/step-type.ts';
import { storedGraph } from './versions.ts';
import { entriesOf, findStep, leave } from './walk.ts';

export interface ExecutionAdvanceDeps extends RunDeps {
  db: Db;
}

/** A run of an execution. A run with an older generation than the row's changes nothing. */
export interface ExecutionRef {
  executionId: string;
  generation: number;
}

/** What the caller has to do before the next call. */
export type Next =
  | { kind: 'end'; status: string }
  /** Call again at once. */
  | { kind: 'more' }
  | { kind: 'rest'; stepType: string; event: string | undefined; until: number | undefined }
  | { kind: 'webhook'; visit: number };

type StepResult = Next | { kind: 'moved'; execution: ExecutionState };

/** Events that end waits add to the context, and a loop may wait any number of times. */
const MAX_CONTEXT_BYTES = 128 * 1024;
const CONTEXT_TOO_LARGE = `the context of the execution would exceed ${MAX_CONTEXT_BYTES / 1024} KB`;

/** Keeps a call short, so that it can be cancelled and its worker stopped. */
const SLICE_STEPS = 50;

/**
 * Advances an execution, one transaction per step, until it sleeps, waits, calls a webhook or ends. Idempotent and safe
 * to call concurrently: each step reads the current state of the execution under its locks.
 */
export async function advance(deps: ExecutionAdvanceDeps, ref: ExecutionRef): Promise<Next> {
  let latest = await readExecution(deps.db, ref.executionId);
  for (let steps = 0; steps < SLICE_STEPS; steps++) {
    const result = await retryDeadlocks(deps.db, () => takeOneStep(deps, ref, latest));
    if (result.kind !== 'moved') return result;
    latest = result.execution;
  }
  return { kind: 'more' };
}

/** Tries a single statement without locks first, and falls back to a transaction with locks. */
async function takeOneStep(
  deps: ExecutionAdvanceDeps,
  ref: ExecutionRef,
  latest: ExecutionState | undefined,
): Promise<StepResult> {
  try {
    return (await takeUnlockedStep(deps, ref, latest)) ?? (await takeLockedStep(deps, ref));
  } catch (error) {
    if (error instanceof StaleExecution) return takeLockedStep(deps, ref);
    // The update was rolled back; the locked run fails the step with this reason.
    if (isDataTooLarge(error)) return takeLockedStep(deps, ref, mergedTooLarge.message);
    throw error;
  }
}

async function takeUnlockedStep(
  deps: ExecutionAdvanceDeps,
  { generation }: ExecutionRef,
  execution: ExecutionState | undefined,
): Promise<StepResult | undefined> {
  if (execution?.generation !== generation || execution.status !== 'RUNNING' || !execution.contact) return undefined;
  const graph = await storedGraph(deps.db, execution.workflowId, execution.version);
  const step = graph && currentStep(graph, execution);
  if (!step || !stepTypeOf(step).runsUnlocked) return undefined;
  return runStep(deps.db, deps, { execution, graph, step }, execution.contact);
}

const takeLockedStep = (deps: ExecutionAdvanceDeps, ref: ExecutionRef, updateRefusal?: string): Promise<StepResult> =>
  inTransaction(deps.db, async (trx) => {
    const execution = await lockExecution(trx, ref.executionId);
    if (execution?.generation !== ref.generation) return { kind: 'end', status: 'OVER' };
    if (!isActive(execution)) return { kind: 'end', status: execution.status };
    const graph = await storedGraph(trx, execution.workflowId, execution.version);
    const step = graph && currentStep(graph, execution);
    if (!graph || !step) return failWithoutGraph(trx, execution);
    const { contact } = execution;
    const visit = { execution, graph, step };
    if (!contact) return end(trx, visit, { status: 'CANCELLED' }, 'CANCELLED', { exitReason: CONTACT_DELETED });
    if (execution.status === 'WAITING') return wakeUp(trx, deps, visit);
    if (stepTypeOf(step).callsWebhook && (await hasPendingRequest(trx, execution)))
      return { kind: 'webhook', visit: execution.visit };
    return runStep(trx, deps, visit, contact, updateRefusal);
  });

async function runStep(
  db: Db,
  deps: ExecutionAdvanceDeps,
  { execution, graph, step }: StepVisit,
  contact: ContactRecord,
  updateRefusal?: string,
): Promise<StepResult> {
  const since = isReplanned(execution) ? await startOfVisit(db, execution) : undefined;
  const started = since ? { ...deps, now: () => since } : deps;
  const { env, effects } = executionEnvironment(db, started, execution, contact, updateRefusal);
  const outcome = await outcomeOf(deps.keys, execution, step, env);
  return applyOutcome(db, deps, { execution, graph, step, effects }, outcome);
}

/** Was waiting when it moved to a version with another config of its step, which counts from the start of the step. */
const isReplanned = ({ status, wakeAt, awaitedEvent }: ExecutionState): boolean =>
  status === 'RUNNING' && (wakeAt !== null || awaitedEvent !== null);

async function startOfVisit(db: Db, { id, visit }: ExecutionState): Promise<Date | undefined> {
  const record = await ExecutionStep.query(db).findOne({ executionId: id, visit }).select('startedAt');
  return record?.startedAt;
}

async function outcomeOf(
  keys: SigningKeys,
  { projectId }: ExecutionState,
  step: Step,
  env: StepEnvironment,
): Promise<StepOutcome> {
  try {
    return await stepTypeOf(step).run(openStep(keys, projectId, step), env);
  } catch (error) {
    // The operator can add the key again and retry the execution.
    if (error instanceof SealError) return failStep('the headers of the step cannot be decrypted');
    throw error;
  }
}

const currentStep = (graph: Graph, { currentStepId }: ExecutionState): Step | undefined =>
  currentStepId === null ? entriesOf(graph)[0] : findStep(graph, currentStepId);

/** An execution at a step. */
export interface StepVisit {
  execution: ExecutionState;
  graph: Graph;
  step: Step;
  /** Written in the statement that leaves the step. */
  effects?: Effects;
}

async function applyOutcome(
  trx: Db,
  { now, keys }: ExecutionAdvanceDeps,
  visit: StepVisit,
  outcome: StepOutcome,
): Promise<StepResult> {
  const { execution, step } = visit;
  switch (outcome.kind) {
    case 'leave':
      return leaveStep(trx, visit, outcome.exit, { status: outcome.status, output: outcome.output });
    case 'end':
      if (outcome.status === 'FAILED') return failAt(trx, visit, outcome.reason ?? 'the step failed');
      return end(trx, visit, { status: 'COMPLETED' }, 'EXITED', { exitReason: outcome.reason });
    case 'webhook':
      await writeExecutionStep(
        trx,
        execution,
        step,
        { status: 'RUNNING', request: sealHeaders(keys, execution.projectId, outcome.request) },
        sameStep(visit),
      );
      return { kind: 'webhook', visit: execution.visit };
    case 'sleep':
      if (outcome.until <= now()) return leaveByTime(trx, visit, null, { scheduledFor: outcome.until });
      return rest(trx, visit, { wakeAt: outcome.until });
    case 'wait': {
      const wakeAt = outcome.until ?? null;
      const event = await findWaitEvent(trx, execution, outcome.event, wakeAt);
      if (event) return leaveByEvent(trx, visit, event);
      return rest(trx, visit, { wakeAt, awaitedEvent: outcome.event });
    }
  }
}

const sameStep = ({ execution: { status, visit }, step }: StepVisit): NextState => ({ status, visit, stepId: step.id });

async function rest(trx: Db, visit: StepVisit, waits: { wakeAt: Date | null; awaitedEvent?: string }): Promise<Next> {
  const { execution, step } = visit;
  const { wakeAt, awaitedEvent } = waits;
  const record: StepRecord = { status: 'WAITING', scheduledFor: wakeAt };
  await writeExecutionStep(trx, execution, step, record, { ...sameStep(visit), status: 'WAITING', ...waits });
  return { kind: 'rest', stepType: step.type, event: awaitedEvent, until: wakeAt?.getTime() };
}

/** Leaves the step if its event has happened or its time is over; otherwise the execution continues to wait. */
async function wakeUp(trx: Db, { now }: ExecutionAdvanceDeps, visit: StepVisit): Promise<StepResult> {
  const { execution, step } = visit;
  const { awaitedEvent, wakeAt } = execution;
  const event = awaitedEvent === null ? undefined : await findWaitEvent(trx, execution, awaitedEvent, wakeAt);
  if (event) return leaveByEvent(trx, visit, event);
  if (wakeAt === null || wakeAt > now())
    return { kind: 'rest', stepType: step.type, event: awaitedEvent ?? undefined, until: wakeAt?.getTime() };
  return leaveByTime(trx, visit, wakeAt, {});
}

async function leaveByEvent(trx: Db, visit: StepVisit, { position, data }: WaitEvent): Promise<StepResult> {
  const context = { ...visit.execution.context, ...data };
  if (Buffer.byteLength(JSON.stringify(context)) > MAX_CONTEXT_BYTES) return failAt(trx, visit, CONTEXT_TOO_LARGE);
  return leaveStep(trx, visit, 'event', { status: 'COMPLETED', output: data }, { afterPosition: position, context });
}

/** Ends a delay, or a wait whose event has not happened. */
export async function leaveByTime(
  trx: Db,
  visit: StepVisit,
  endedAt: Date | null,
  record: Partial<StepRecord>,
): Promise<StepResult> {
  const { execution, step } = visit;
  const afterPosition = await positionAfter(trx, execution, endedAt);
  const exit: StepExit = stepTypeOf(step).exits.includes('timeout') ? 'timeout' : 'next';
  return leaveStep(trx, visit, exit, { status: 'COMPLETED', ...record }, { afterPosition });
}

/** Records the visit and moves the execution along the exit's transition. */
export async function leaveStep(
  trx: Db,
  visit: StepVisit,
  exit: StepExit,
  record: StepRecord,
  change: Pick<NextState, 'context' | 'afterPosition'> = {},
): Promise<StepResult> {
  const { execution, graph, step, effects } = visit;
  const visited = { ...record, branch: branchOf(exit) };
  const next = leave(graph, { stepId: step.id, visit: execution.visit }, exit);
  if (next.kind === 'completed') return end(trx, visit, visited, 'COMPLETED', change);
  if (next.kind === 'failed') return end(trx, visit, visited, 'FAILED', { ...change, error: next.reason });
  const state: NextState = { ...change, status: 'RUNNING', stepId: next.step.id, visit: next.visit };
  return { kind: 'moved', execution: await writeExecutionStep(trx, execution, step, visited, state, effects) };
}

type EndStatus = 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED';

async function end(
  trx: Db,
  { execution, step, effects }: StepVisit,
  record: StepRecord,
  status: EndStatus,
  change: Partial<NextState>,
): Promise<Next> {
  const { visit } = execution;
  await writeExecutionStep(trx, execution, step, record, { ...change, status, stepId: step.id, visit }, effects);
  return { kind: 'end', status };
}

/** Fails the execution at its step, where it can be retried. */
export const failAt = (
  trx: Db,
  { execution, graph, step }: StepVisit,
  error: string,
  record: Partial<StepRecord> = {},
): Promise<Next> => end(trx, { execution, graph, step }, { ...record, status: 'FAILED', error }, 'FAILED', { error });

/** Fails an execution whose step keeps failing because of an internal error. A client can retry it. */
export async function failExecution(db: Db, { executionId, generation }: ExecutionRef, error: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const execution = await lockExecution(trx, executionId);
    if (execution?.generation !== generation || !isActive(execution)) return;
    const graph = await storedGraph(trx, execution.workflowId, execution.version);
    const step = graph && currentStep(graph, execution);
    if (graph && step) await failAt(trx, { execution, graph, step }, error);
  });
}

/** The workflow was deleted, or restored from a backup without this version. */
async function failWithoutGraph(trx: Db, { id }: ExecutionState): Promise<Next> {
  await Execution.query(trx).findById(id).patch({
    status: 'FAILED',
    error: 'the graph of the workflow no longer exists',
    wakeAt: null,
    awaitedEvent: null,
    completedAt: new Date(),
    updatedAt: new Date(),
  });
  return { kind: 'end', status: 'FAILED' };
}

/** Returns whether the request of this visit is stored, has no outcome yet and is not outdated by a move. */
async function hasPendingRequest(trx: Db, { id, visit }: ExecutionState): Promise<boolean> {
  const record = await ExecutionStep.query(trx).findOne({ executionId: id, visit, status: 'RUNNING' });
  return record !== undefined && record.request?.outdated !== true;
}

/** An event that ends a wait. */
interface WaitEvent {
  position: string;
  data: Data;
}

// The time only keeps the index scan short. Positions, assigned under the contact's lock, decide which events qualify. An
// event of a long transaction may have a time somewhat before the start.
const findEvent = statement<WaitEvent>(
  'wait-event',
  `select position, data from events
   where project_id = $1 and name = $2 and contact_id = $3 and created_at >= $4::timestamptz - interval '1 hour'
     and position > $5 and ($6::timestamptz is null or created_at <= $6::timestamptz)
   order by position limit 1`,
);

/** Returns the first event that ends a wait. Events after the time-out do not qualify. */
async function findWaitEvent(
  trx: Db,
  execution: ExecutionState,
  name: string,
  until: Date | null,
): Promise<WaitEvent | undefined> {
  const { projectId, contactId, startedAt, afterPosition } = execution;
  const [event] = await findEvent(trx, [projectId, name, contactId, startedAt, afterPosition, until]);
  return event;
}

const findLastPosition = statement<{ position: string | null }>(
  'wait-last-position',
  `select max(position) as position from events
   where project_id = $1 and contact_id = $2 and ($3::timestamptz is null or created_at <= $3::timestamptz)
     and created_at >= $4::timestamptz - interval '1 hour'`,
);

/**
 * Returns the position up to which events no longer qualify after a sleep that ended at `endedAt`, or ends now. Uses the
 * scheduled end, so that events during an outage of the worker count as later.
 */
export async function positionAfter(trx: Db, execution: ExecutionState, endedAt: Date | null): Promise<string> {
  const { projectId, contactId, afterPosition, startedAt } = execution;
  const [row] = await findLastPosition(trx, [projectId, contactId, endedAt, startedAt]);
  return BigInt(row?.position ?? 0) > BigInt(afterPosition) ? String(row?.position) : afterPosition;
}
