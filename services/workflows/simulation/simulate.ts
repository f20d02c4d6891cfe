import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { targetRefusal } from '../../../platform/http/outbound-http.ts';
import { conditionReason, explainFilters } from '../explained.ts';
import { branchOf, type Graph, type Step, type StepExit } from '../graph.ts';
import { stepTypeOf } from '../steps/index.ts';
import type { StepOutcome } from '../steps/step-type.ts';
import { entriesOf, leave } from '../walk.ts';
import { LIMITS, mb, SimulationBudget, type SimulationLimits, type Truncation } from './budget.ts';
import { Recorder, type SimulationEnvironment } from './recorder.ts';
import type { SimulatedStep } from './simulated-step.ts';
import type { SimulationState } from './state.ts';

export type { SimulatedStep } from './simulated-step.ts';

export interface Simulation {
  /** WAITING: the script does not have the awaited event. STOPPED: a limit of simulations was reached. */
  status: 'COMPLETED' | 'EXITED' | 'FAILED' | 'WAITING' | 'STOPPED';
  reason: string | null;
  path: SimulatedStep[];
  /** Where the answer stops being complete, and why. */
  truncated: Truncation | null;
  state: SimulationState;
}

/** Time between yields to the event loop. */
const YIELD_MS = 10;

interface SimulationOptions {
  environment: SimulationEnvironment;
  state: SimulationState;
  graph: Graph;
  webhookAllowedHosts: string[];
  limits?: Partial<SimulationLimits>;
  /** Virtual time at which it stops. */
  until?: Date | undefined;
}

type End = Pick<Simulation, 'status' | 'reason'>;
type SimulatedExit = { exit: StepExit } | { end: End };

/** Runs a graph with the step types and transitions of executions, on simulated state. */
export async function simulate({
  environment,
  state,
  graph,
  webhookAllowedHosts,
  limits: given,
  until,
}: SimulationOptions): Promise<Simulation> {
  const limits = { ...LIMITS, ...given };
  const budget = new SimulationBudget(limits);
  const path: SimulatedStep[] = [];
  const finish = (end: End): Simulation => ({ ...end, path, truncated: budget.truncated ?? null, state: state });
  const stop = (at: Step, visit: number, why: string): Simulation => {
    const reason = `the simulation ends here: ${why}`;
    budget.cut(at, visit, reason);
    return finish({ status: 'STOPPED', reason });
  };
  let horizon = new Date(state.now);
  horizon.setUTCFullYear(horizon.getUTCFullYear() + limits.years);
  if (until && until < horizon) horizon = until;
  state.passTo(state.now);
  state.excludePastEvents();

  let yieldAt = performance.now() + YIELD_MS;
  let [step] = entriesOf(graph);
  for (let visit = 1; step; ) {
    const refusal = budget.refusal();
    if (refusal) return stop(step, visit, refusal);
    if (performance.now() > yieldAt) {
      await yieldToEventLoop();
      yieldAt = performance.now() + YIELD_MS;
    }
    const visited = await takeStep({ environment, state, webhookAllowedHosts, horizon }, step, visit);
    const shown = budget.admit(visited.step);
    if (!shown) return stop(step, visit, `the response would exceed ${mb(limits.stepBytes)}`);
    path.push(shown);
    if ('end' in visited.stepExit) {
      const { end } = visited.stepExit;
      if (end.status === 'STOPPED') budget.cut(step, visit, end.reason ?? '');
      return finish(end);
    }
    const next = leave(graph, { stepId: step.id, visit }, visited.stepExit.exit);
    if (next.kind === 'failed') return finish({ status: 'FAILED', reason: next.reason });
    if (next.kind === 'completed') return finish({ status: 'COMPLETED', reason: null });
    ({ step, visit } = next);
  }
  return finish({ status: 'COMPLETED', reason: null });
}

interface StepOptions {
  environment: SimulationEnvironment;
  state: SimulationState;
  webhookAllowedHosts: string[];
  horizon: Date;
}

async function takeStep(
  options: StepOptions,
  step: Step,
  visit: number,
): Promise<{ step: SimulatedStep; stepExit: SimulatedExit }> {
  const { environment, state } = options;
  const enteredAt = state.now;
  const recorder = new Recorder(environment, state);
  const outcome = await stepTypeOf(step).run(step, recorder.env);
  const { stepExit, ...changes } = applyOutcome(options, outcome);
  const exit = 'exit' in stepExit ? stepExit.exit : 'next';
  const filters = recorder.filters ? explainFilters(step.config, recorder.filters) : null;
  const done: SimulatedStep = {
    visit,
    step,
    status: 'COMPLETED',
    branch: branchOf(exit),
    reason: null,
    filters,
    output: null,
    scheduledFor: null,
    enteredAt,
    leftAt: state.now,
    email: recorder.email ?? null,
    webhook: null,
    ...changes,
  };
  if (filters) done.reason ??= conditionReason(filters);
  return { step: recorder.email ? { ...done, output: null } : done, stepExit };
}

type StepResult = Partial<SimulatedStep> & { stepExit: SimulatedExit };

/** The counterpart of `applyOutcome` in advance.ts: stores nothing, and time passes at once. */
function applyOutcome({ state, webhookAllowedHosts, horizon }: StepOptions, outcome: StepOutcome): StepResult {
  switch (outcome.kind) {
    case 'leave': {
      const { exit, status, output } = outcome;
      const reason = status === 'SKIPPED' && typeof output?.reason === 'string' ? output.reason : null;
      return { status, output: output ?? null, reason, stepExit: { exit } };
    }
    case 'end': {
      const { status, reason } = outcome;
      return { status: status === 'FAILED' ? 'FAILED' : 'COMPLETED', reason, stepExit: { end: { status, reason } } };
    }
    case 'webhook': {
      const refusal = targetRefusal(outcome.request.url, webhookAllowedHosts);
      const { request: webhook } = outcome;
      if (!refusal) return { webhook, stepExit: { exit: 'next' } };
      const reason = `The request was not sent: ${refusal}.`;
      return { webhook: null, status: 'FAILED', reason, stepExit: { end: { status: 'FAILED', reason } } };
    }
    case 'sleep':
      return sleep(state, outcome.until, horizon);
    case 'wait':
      return wait(state, outcome.event, outcome.until, horizon);
  }
}

const pastHorizon = (until: Date): StepResult => {
  const reason = `the simulation ends here: ${until.toISOString()} is too far in the future`;
  return { status: 'WAITING', scheduledFor: until, leftAt: null, stepExit: { end: { status: 'STOPPED', reason } } };
};

function sleep(state: SimulationState, until: Date, horizon: Date): StepResult {
  if (until > horizon) return pastHorizon(until);
  if (until > state.now) state.passTo(until);
  state.excludePastEvents();
  return { scheduledFor: until, stepExit: { exit: 'next' } };
}

function wait(state: SimulationState, event: string, until: Date | undefined, horizon: Date): StepResult {
  const known = state.take(event);
  // An event that has happened already ends the wait at once.
  const scheduledFor = (!known && until) || null;
  const received = known ?? passToEvent(state, event, until);
  if (received) {
    state.context = { ...state.context, ...received.data };
    const reason = `the event "${event}" occurred at ${received.createdAt.toISOString()}`;
    return { scheduledFor, reason, output: received.data, stepExit: { exit: 'event' } };
  }
  if (!until) {
    state.passToEnd();
    const reason = `the event "${event}" is not simulated, and the wait has no timeout`;
    return { status: 'WAITING', leftAt: null, reason, stepExit: { end: { status: 'WAITING', reason } } };
  }
  if (until > horizon) return pastHorizon(until);
  state.passTo(until);
  state.excludePastEvents();
  return {
    scheduledFor,
    reason: `the event "${event}" did not occur by ${until.toISOString()}`,
    stepExit: { exit: 'timeout' },
  };
}

function passToEvent(state: SimulationState, event: string, until: Date | undefined) {
  const at = state.nextOf(event, until);
  if (!at) return undefined;
  state.passTo(at);
  return state.take(event);
}
