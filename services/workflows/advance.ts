import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { CONTACT_DELETED } from '../contacts/delete.ts';
import type { Branch, Exit, Graph, Step } from './graph.ts';
import { type HeldExecution, holdExecution, isActive } from './held-execution.ts';
import { type RunDeps, realRun } from './real-run.ts';
import { moveExecution, type NewPlace, type StepRecord } from './records.ts';
import { stepTypes } from './steps/index.ts';
import type { Outcome } from './steps/step-type.ts';
import { storedGraph } from './stored-graph.ts';
import { type CountingEvent, countingEvent, cutAfter } from './waiting.ts';
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

type Moved = Next | { kind: 'moved' };

/** A slice is short, so that it can be cancelled and its worker stopped. */
const SLICE_STEPS = 50;

/**
 * Carries an execution forward, one transaction per step, until it must sleep, wait, call a webhook or end. It may be
 * called as often as one likes, also by several at once: each step finds out under the locks where the execution is.
 */
export async function advance(deps: AdvanceDeps, ref: ExecutionRef): Promise<Next> {
  for (let steps = 0; steps < SLICE_STEPS; steps++) {
    const moved = await retryDeadlocks(deps.db, () => inTransaction(deps.db, (trx) => takeStep(trx, deps, ref)));
    if (moved.kind !== 'moved') return moved;
  }
  return { kind: 'more' };
}

async function takeStep(trx: Db, deps: AdvanceDeps, { executionId, generation }: ExecutionRef): Promise<Moved> {
  const execution = await holdExecution(trx, executionId);
  if (!execution || execution.generation !== generation) return { kind: 'end', status: 'OVER' };
  if (!isActive(execution)) return { kind: 'end', status: execution.status };
  const graph = await storedGraph(trx, execution.workflowId, execution.version);
  const step = graph && currentStep(graph, execution);
  if (!graph || !step) return lost(trx, execution);
  const { contact } = execution;
  if (!contact) return end(trx, execution, step, { status: 'CANCELLED' }, 'CANCELLED', { exitReason: CONTACT_DELETED });
  if (execution.status === 'WAITING') return wakeUp(trx, deps, execution, graph, step);
  if (step.type === 'WEBHOOK' && (await isCalling(trx, execution))) return { kind: 'webhook', visit: execution.visit };
  const outcome = await stepTypes[step.type].run(step, realRun(trx, deps, execution, contact));
  return carryOut(trx, deps, { execution, graph, step }, outcome);
}

const currentStep = (graph: Graph, { currentStepId }: HeldExecution): Step | undefined =>
  currentStepId === null ? entriesOf(graph)[0] : findStep(graph, currentStepId);

/** Where an execution stands while it takes a step. */
export interface Standing {
  execution: HeldExecution;
  graph: Graph;
  step: Step;
}

async function carryOut(trx: Db, { now }: AdvanceDeps, standing: Standing, outcome: Outcome): Promise<Moved> {
  const { execution, step } = standing;
  switch (outcome.kind) {
    case 'leave':
      return leaveStep(trx, standing, outcome.exit, { status: outcome.status, output: outcome.output });
    case 'end':
      if (outcome.status === 'FAILED') return failAt(trx, execution, step, outcome.reason ?? 'the step failed');
      return end(trx, execution, step, { status: 'COMPLETED' }, 'EXITED', { exitReason: outcome.reason });
    case 'webhook':
      await moveExecution(trx, execution, step, { status: 'RUNNING', request: outcome.request }, place(standing));
      return { kind: 'webhook', visit: execution.visit };
    case 'sleep':
      if (outcome.until <= now()) return leaveSleep(trx, standing, null, { scheduledFor: outcome.until });
      return rest(trx, standing, { wakeAt: outcome.until });
    case 'wait': {
      const event = await countingEvent(trx, execution, outcome.event, null);
      if (event) return leaveWait(trx, standing, event);
      return rest(trx, standing, { wakeAt: outcome.until ?? null, awaits: outcome.event });
    }
  }
}

const place = ({ execution: { status, visit }, step }: Standing): NewPlace => ({ status, visit, stepId: step.id });

async function rest(trx: Db, standing: Standing, waits: { wakeAt: Date | null; awaits?: string }): Promise<Next> {
  const { execution, step } = standing;
  const { wakeAt, awaits } = waits;
  const record: StepRecord = { status: 'WAITING', scheduledFor: wakeAt };
  await moveExecution(trx, execution, step, record, { ...place(standing), status: 'WAITING', ...waits });
  return { kind: 'rest', stepType: step.type, event: awaits, until: wakeAt?.getTime() };
}

/** It rests: is that over? */
async function wakeUp(
  trx: Db,
  { now }: AdvanceDeps,
  execution: HeldExecution,
  graph: Graph,
  step: Step,
): Promise<Moved> {
  const { awaits, wakeAt } = execution;
  const standing = { execution, graph, step };
  const event = awaits === null ? undefined : await countingEvent(trx, execution, awaits, wakeAt);
  if (event) return leaveWait(trx, standing, event);
  if (wakeAt === null || wakeAt > now())
    return { kind: 'rest', stepType: step.type, event: awaits ?? undefined, until: wakeAt?.getTime() };
  return leaveSleep(trx, standing, wakeAt, {});
}

async function leaveWait(trx: Db, standing: Standing, { position, data }: CountingEvent): Promise<Moved> {
  const context = { ...standing.execution.context, ...data };
  return leaveStep(trx, standing, 'event', { status: 'COMPLETED', output: data }, { cut: position, context });
}

/** A DELAY that is over, or a wait without its event. */
export async function leaveSleep(
  trx: Db,
  standing: Standing,
  ended: Date | null,
  record: Partial<StepRecord>,
): Promise<Moved> {
  const { execution, step } = standing;
  const cut = await cutAfter(trx, execution, ended);
  const exit: Exit = step.type === 'WAIT_FOR_EVENT' ? 'timeout' : 'next';
  return leaveStep(trx, standing, exit, { status: 'COMPLETED', ...record }, { cut });
}

/** Records the visit and goes to wherever the exit leads. */
export async function leaveStep(
  trx: Db,
  { execution, graph, step }: Standing,
  exit: Exit,
  record: StepRecord,
  change: Pick<NewPlace, 'context' | 'cut'> = {},
): Promise<Moved> {
  const visited = { ...record, branch: branchOf(exit) };
  const next = leave(graph, { stepId: step.id, visit: execution.visit }, exit);
  if (next.kind === 'completed') return end(trx, execution, step, visited, 'COMPLETED', change);
  if (next.kind === 'failed') return end(trx, execution, step, visited, 'FAILED', { ...change, error: next.reason });
  const { visit, step: target } = next;
  await moveExecution(trx, execution, step, visited, { ...change, status: 'RUNNING', stepId: target.id, visit });
  return { kind: 'moved' };
}

const branchOf = (exit: Exit): Branch | null => (exit === 'next' ? null : exit);

type Ended = 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED';

async function end(
  trx: Db,
  execution: HeldExecution,
  step: Step,
  record: StepRecord,
  status: Ended,
  change: Partial<NewPlace>,
): Promise<Next> {
  const { visit } = execution;
  await moveExecution(trx, execution, step, record, { ...change, status, stepId: step.id, visit });
  return { kind: 'end', status };
}

/** It keeps its place, from which it can be tried again. */
export const failAt = (
  trx: Db,
  execution: HeldExecution,
  step: Step,
  error: string,
  record: Partial<StepRecord> = {},
): Promise<Next> => end(trx, execution, step, { ...record, status: 'FAILED', error }, 'FAILED', { error });

/** Its workflow was deleted, or restored from a backup without the version: there is no way on. */
async function lost(trx: Db, { id }: HeldExecution): Promise<Next> {
  await trx('executions')
    .where({ id })
    .update({ status: 'FAILED', error: 'the graph of the workflow is gone', wakeAt: null, awaits: null })
    .update({ completedAt: trx.fn.now(), updatedAt: trx.fn.now() });
  return { kind: 'end', status: 'FAILED' };
}

/** The request of this visit is written down, and has no outcome yet. */
async function isCalling(trx: Db, { id, visit }: HeldExecution): Promise<boolean> {
  const record = await trx('execution_steps').where({ executionId: id, visit, status: 'RUNNING' }).first('id');
  return record !== undefined;
}
