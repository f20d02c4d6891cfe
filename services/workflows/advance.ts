import { type Db, inTransaction } from '../../db/connect.ts';
import type { ContactRecord } from '../../db/models/contact.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import type { SigningKeys } from '../../platform/cursor.ts';
import { SealError } from '../../platform/seal.ts';
import { mergedTooLarge } from '../contacts/data.ts';
import { isDataTooLarge } from '../contacts/violations.ts';
import { type ExecutionState, isActive, lockExecution, readExecution } from './execution-state.ts';
import { CONTACT_DELETED } from './executions/cancel.ts';
import type { Branch, Exit, Graph, Step, StepTypeName } from './graph.ts';
import { type RunDeps, realRun } from './real-run.ts';
import { type Effects, type NextState, StaleExecution, type StepRecord, writeExecutionStep } from './records.ts';
import { openStep, sealHeaders } from './sealed-headers.ts';
import { stepTypes } from './steps/index.ts';
import { fail, type Outcome, type Run } from './steps/step-type.ts';
import { storedGraph } from './stored-graph.ts';
import { type CountingEvent, countingEvent, positionAfter } from './waiting.ts';
import { entriesOf, findStep, leave } from './walk.ts';

export interface AdvanceDeps extends RunDeps {
  db: Db;
}

/** Which run of which execution: one whose generation is over has nothing more to say. */
export interface ExecutionRef {
  executionId: string;
  generation: number;
}

/** What must happen before the next step, and where the execution rests until then. */
export type Next =
  | { kind: 'end'; status: string }
  /** There is more to do at once. */
  | { kind: 'more' }
  | { kind: 'rest'; stepType: string; event: string | undefined; until: number | undefined }
  | { kind: 'webhook'; visit: number };

type Moved = Next | { kind: 'moved'; execution: ExecutionState };

/** Events that end waits add to the context, in a loop without end. */
const MAX_CONTEXT_BYTES = 128 * 1024;
const CONTEXT_TOO_LARGE = `the context of the execution would grow larger than ${MAX_CONTEXT_BYTES / 1024} KB`;

/** A slice is short, so that it can be cancelled and its worker stopped. */
const SLICE_STEPS = 50;

/** What they come to depends on nothing but the contact and the context; most of all steps are of these. */
const plain: ReadonlySet<StepTypeName> = new Set(['UPDATE_CONTACT', 'CONDITION', 'SEND_EMAIL', 'EXIT']);

/**
 * Carries an execution forward, one transaction per step, until it must sleep, wait, call a webhook or end. It may be
 * called as often as one likes, also by several at once: each step finds out under the locks where the execution is.
 */
export async function advance(deps: AdvanceDeps, ref: ExecutionRef): Promise<Next> {
  let seen = await readExecution(deps.db, ref.executionId);
  for (let steps = 0; steps < SLICE_STEPS; steps++) {
    const moved = await retryDeadlocks(deps.db, () => takeOneStep(deps, ref, seen));
    if (moved.kind !== 'moved') return moved;
    seen = moved.execution;
  }
  return { kind: 'more' };
}

/** A plain step is one statement, which is a transaction by itself. Everything else is done while the locks are held. */
async function takeOneStep(deps: AdvanceDeps, ref: ExecutionRef, seen: ExecutionState | undefined): Promise<Moved> {
  try {
    return (await takePlainStep(deps, ref, seen)) ?? (await takeHeldStep(deps, ref));
  } catch (error) {
    if (error instanceof StaleExecution) return takeHeldStep(deps, ref);
    // It was too much for its contact, and nothing was done: that is what the step has come to.
    if (isDataTooLarge(error)) return takeHeldStep(deps, ref, mergedTooLarge.message);
    throw error;
  }
}

async function takePlainStep(
  deps: AdvanceDeps,
  { generation }: ExecutionRef,
  execution: ExecutionState | undefined,
): Promise<Moved | undefined> {
  if (execution?.generation !== generation || execution.status !== 'RUNNING' || !execution.contact) return undefined;
  const graph = await storedGraph(deps.db, execution.workflowId, execution.version);
  const step = graph && currentStep(graph, execution);
  if (!step || !plain.has(step.type)) return undefined;
  return runStep(deps.db, deps, { execution, graph, step }, execution.contact);
}

const takeHeldStep = (deps: AdvanceDeps, ref: ExecutionRef, refused?: string): Promise<Moved> =>
  inTransaction(deps.db, async (trx) => {
    const execution = await lockExecution(trx, ref.executionId);
    if (execution?.generation !== ref.generation) return { kind: 'end', status: 'OVER' };
    if (!isActive(execution)) return { kind: 'end', status: execution.status };
    const graph = await storedGraph(trx, execution.workflowId, execution.version);
    const step = graph && currentStep(graph, execution);
    if (!graph || !step) return lost(trx, execution);
    const { contact } = execution;
    const standing = { execution, graph, step };
    if (!contact) return end(trx, standing, { status: 'CANCELLED' }, 'CANCELLED', { exitReason: CONTACT_DELETED });
    if (execution.status === 'WAITING') return wakeUp(trx, deps, standing);
    if (step.type === 'WEBHOOK' && (await isCalling(trx, execution)))
      return { kind: 'webhook', visit: execution.visit };
    return runStep(trx, deps, standing, contact, refused);
  });

async function runStep(
  db: Db,
  deps: AdvanceDeps,
  { execution, graph, step }: Standing,
  contact: ContactRecord,
  refused?: string,
): Promise<Moved> {
  const { run, effects } = realRun(db, deps, execution, contact, refused);
  const outcome = await outcomeOf(deps.keys, execution, step, run);
  return carryOut(db, deps, { execution, graph, step, effects }, outcome);
}

async function outcomeOf(keys: SigningKeys, { projectId }: ExecutionState, step: Step, run: Run): Promise<Outcome> {
  try {
    return await stepTypes[step.type].run(openStep(keys, projectId, step), run);
  } catch (error) {
    // The operator can add the key again; then the execution can be retried.
    if (error instanceof SealError) return fail('the headers of the step cannot be opened');
    throw error;
  }
}

const currentStep = (graph: Graph, { currentStepId }: ExecutionState): Step | undefined =>
  currentStepId === null ? entriesOf(graph)[0] : findStep(graph, currentStepId);

/** Where an execution stands while it takes a step. */
export interface Standing {
  execution: ExecutionState;
  graph: Graph;
  step: Step;
  /** What leaving it does. */
  effects?: Effects;
}

async function carryOut(trx: Db, { now, keys }: AdvanceDeps, standing: Standing, outcome: Outcome): Promise<Moved> {
  const { execution, step } = standing;
  switch (outcome.kind) {
    case 'leave':
      return leaveStep(trx, standing, outcome.exit, { status: outcome.status, output: outcome.output });
    case 'end':
      if (outcome.status === 'FAILED') return failAt(trx, standing, outcome.reason ?? 'the step failed');
      return end(trx, standing, { status: 'COMPLETED' }, 'EXITED', { exitReason: outcome.reason });
    case 'webhook':
      await writeExecutionStep(
        trx,
        execution,
        step,
        { status: 'RUNNING', request: sealHeaders(keys, execution.projectId, outcome.request) },
        place(standing),
      );
      return { kind: 'webhook', visit: execution.visit };
    case 'sleep':
      if (outcome.until <= now()) return leaveSleep(trx, standing, null, { scheduledFor: outcome.until });
      return rest(trx, standing, { wakeAt: outcome.until });
    case 'wait': {
      const event = await countingEvent(trx, execution, outcome.event, null);
      if (event) return leaveWait(trx, standing, event);
      return rest(trx, standing, { wakeAt: outcome.until ?? null, awaitedEvent: outcome.event });
    }
  }
}

const place = ({ execution: { status, visit }, step }: Standing): NextState => ({ status, visit, stepId: step.id });

async function rest(trx: Db, standing: Standing, waits: { wakeAt: Date | null; awaitedEvent?: string }): Promise<Next> {
  const { execution, step } = standing;
  const { wakeAt, awaitedEvent } = waits;
  const record: StepRecord = { status: 'WAITING', scheduledFor: wakeAt };
  await writeExecutionStep(trx, execution, step, record, { ...place(standing), status: 'WAITING', ...waits });
  return { kind: 'rest', stepType: step.type, event: awaitedEvent, until: wakeAt?.getTime() };
}

/** It rests: is that over? */
async function wakeUp(trx: Db, { now }: AdvanceDeps, standing: Standing): Promise<Moved> {
  const { execution, step } = standing;
  const { awaitedEvent, wakeAt } = execution;
  const event = awaitedEvent === null ? undefined : await countingEvent(trx, execution, awaitedEvent, wakeAt);
  if (event) return leaveWait(trx, standing, event);
  if (wakeAt === null || wakeAt > now())
    return { kind: 'rest', stepType: step.type, event: awaitedEvent ?? undefined, until: wakeAt?.getTime() };
  return leaveSleep(trx, standing, wakeAt, {});
}

async function leaveWait(trx: Db, standing: Standing, { position, data }: CountingEvent): Promise<Moved> {
  const context = { ...standing.execution.context, ...data };
  if (Buffer.byteLength(JSON.stringify(context)) > MAX_CONTEXT_BYTES) return failAt(trx, standing, CONTEXT_TOO_LARGE);
  return leaveStep(trx, standing, 'event', { status: 'COMPLETED', output: data }, { afterPosition: position, context });
}

/** A DELAY that is over, or a wait without its event. */
export async function leaveSleep(
  trx: Db,
  standing: Standing,
  ended: Date | null,
  record: Partial<StepRecord>,
): Promise<Moved> {
  const { execution, step } = standing;
  const afterPosition = await positionAfter(trx, execution, ended);
  const exit: Exit = step.type === 'WAIT_FOR_EVENT' ? 'timeout' : 'next';
  return leaveStep(trx, standing, exit, { status: 'COMPLETED', ...record }, { afterPosition });
}

/** Records the visit and goes to wherever the exit leads. */
export async function leaveStep(
  trx: Db,
  standing: Standing,
  exit: Exit,
  record: StepRecord,
  change: Pick<NextState, 'context' | 'afterPosition'> = {},
): Promise<Moved> {
  const { execution, graph, step, effects } = standing;
  const visited = { ...record, branch: branchOf(exit) };
  const next = leave(graph, { stepId: step.id, visit: execution.visit }, exit);
  if (next.kind === 'completed') return end(trx, standing, visited, 'COMPLETED', change);
  if (next.kind === 'failed') return end(trx, standing, visited, 'FAILED', { ...change, error: next.reason });
  const { visit, step: target } = next;
  const there: NextState = { ...change, status: 'RUNNING', stepId: target.id, visit };
  return { kind: 'moved', execution: await writeExecutionStep(trx, execution, step, visited, there, effects) };
}

const branchOf = (exit: Exit): Branch | null => (exit === 'next' ? null : exit);

type Ended = 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED';

async function end(
  trx: Db,
  { execution, step, effects }: Standing,
  record: StepRecord,
  status: Ended,
  change: Partial<NextState>,
): Promise<Next> {
  const { visit } = execution;
  await writeExecutionStep(trx, execution, step, record, { ...change, status, stepId: step.id, visit }, effects);
  return { kind: 'end', status };
}

/** It keeps its place, from which it can be tried again. */
export const failAt = (
  trx: Db,
  { execution, graph, step }: Standing,
  error: string,
  record: Partial<StepRecord> = {},
): Promise<Next> => end(trx, { execution, graph, step }, { ...record, status: 'FAILED', error }, 'FAILED', { error });

/** Its workflow was deleted, or restored from a backup without the version: there is no way on. */
async function lost(trx: Db, { id }: ExecutionState): Promise<Next> {
  await trx('executions')
    .where({ id })
    .update({ status: 'FAILED', error: 'the graph of the workflow is gone', wakeAt: null, awaitedEvent: null })
    .update({ completedAt: trx.fn.now(), updatedAt: trx.fn.now() });
  return { kind: 'end', status: 'FAILED' };
}

/** The request of this visit is written down, and has no outcome yet. */
async function isCalling(trx: Db, { id, visit }: ExecutionState): Promise<boolean> {
  const record = await trx('execution_steps').where({ executionId: id, visit, status: 'RUNNING' }).first('id');
  return record !== undefined;
}
