import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Data } from '../../contacts/data.ts';
import type { Branch, Exit, Graph, Step } from '../graph.ts';
import { targetRefusal } from '../step-config.ts';
import { stepTypes } from '../steps/index.ts';
import type { Outcome } from '../steps/step-type.ts';
import { entriesOf, leave } from '../walk.ts';
import type { WebhookRequest } from '../webhook-call.ts';
import { Budget, LIMITS, type Limits, mb, type Truncation } from './budget.ts';
import { conditionReason, type ExplainedFilter, explainFilters } from './explained.ts';
import { Recorder, type SimulatedEmail, type Surroundings } from './recorder.ts';
import type { World } from './world.ts';

/** A visit of a step, with what came of it and why. */
export interface SimulatedStep {
  visit: number;
  step: Step;
  status: 'COMPLETED' | 'SKIPPED' | 'FAILED' | 'WAITING';
  branch: Branch | null;
  /** Why it took this way, in words. */
  reason: string | null;
  /** Of a condition: what each of its filters answered. */
  filters: ExplainedFilter[] | null;
  output: Data | null;
  scheduledFor: Date | null;
  enteredAt: Date;
  leftAt: Date | null;
  email: SimulatedEmail | null;
  webhook: SimulatedRequest | null;
}

/** Without a body where there was no room for it. */
export type SimulatedRequest = Omit<WebhookRequest, 'body'> & { body: string | null };

export interface Simulation {
  /** WAITING: for an event that the script does not have. STOPPED: it was too long for a simulation. */
  status: 'COMPLETED' | 'EXITED' | 'FAILED' | 'WAITING' | 'STOPPED';
  reason: string | null;
  path: SimulatedStep[];
  /** Where the answer is not complete any more, and why. */
  truncated: Truncation | null;
  world: World;
}

/** So long it goes on before others in this process get their turn. */
const TURN_MS = 10;

interface Simulating {
  around: Surroundings;
  world: World;
  graph: Graph;
  webhookAllowedHosts: string[];
  limits?: Partial<Limits>;
}

/** Where a step has led: on, or to an end. */
type End = Pick<Simulation, 'status' | 'reason'>;
type Turn = { exit: Exit } | { end: End };

/** Walks a graph as an execution would, with the same steps and the same walker, in a world that is made up. */
export async function simulate({
  around,
  world,
  graph,
  webhookAllowedHosts,
  limits: given,
}: Simulating): Promise<Simulation> {
  const limits = { ...LIMITS, ...given };
  const budget = new Budget(limits);
  const path: SimulatedStep[] = [];
  const over = (end: End): Simulation => ({ ...end, path, truncated: budget.truncated ?? null, world });
  const stop = (at: Step, visit: number, why: string): Simulation => {
    const reason = `the simulation ends here: ${why}`;
    budget.cut(at, visit, reason);
    return over({ status: 'STOPPED', reason });
  };
  const horizon = new Date(world.now);
  horizon.setUTCFullYear(horizon.getUTCFullYear() + limits.years);
  world.passTo(world.now);
  world.cutHere();

  let turnUntil = performance.now() + TURN_MS;
  let [step] = entriesOf(graph);
  for (let visit = 1; step; ) {
    const refusal = budget.refusal();
    if (refusal) return stop(step, visit, refusal);
    if (performance.now() > turnUntil) {
      await nextTurn();
      turnUntil = performance.now() + TURN_MS;
    }
    const visited = await takeStep({ around, world, webhookAllowedHosts, horizon }, step, visit);
    const shown = budget.admit(visited.step);
    if (!shown) return stop(step, visit, `the answer would be larger than ${mb(limits.stepBytes)}`);
    path.push(shown);
    if ('end' in visited.turn) {
      const { end } = visited.turn;
      if (end.status === 'STOPPED') budget.cut(step, visit, end.reason ?? '');
      return over(end);
    }
    const next = leave(graph, { stepId: step.id, visit }, visited.turn.exit);
    if (next.kind === 'failed') return over({ status: 'FAILED', reason: next.reason });
    if (next.kind === 'completed') return over({ status: 'COMPLETED', reason: null });
    ({ step, visit } = next);
  }
  return over({ status: 'COMPLETED', reason: null });
}

interface Moment {
  around: Surroundings;
  world: World;
  webhookAllowedHosts: string[];
  horizon: Date;
}

async function takeStep(moment: Moment, step: Step, visit: number): Promise<{ step: SimulatedStep; turn: Turn }> {
  const { around, world } = moment;
  const enteredAt = world.now;
  const recorder = new Recorder(around, world);
  const outcome = await stepTypes[step.type].run(step, recorder.run);
  const { turn, ...told } = carryOut(moment, outcome);
  const exit = 'exit' in turn ? turn.exit : 'next';
  const filters = recorder.filters ? explainFilters(step.config, recorder.filters) : null;
  const done: SimulatedStep = {
    visit,
    step,
    status: 'COMPLETED',
    branch: exit === 'next' ? null : exit,
    reason: null,
    filters,
    output: null,
    scheduledFor: null,
    enteredAt,
    leftAt: world.now,
    email: recorder.email ?? null,
    webhook: null,
    ...told,
  };
  if (filters) done.reason ??= conditionReason(filters);
  return { step: recorder.email ? { ...done, output: null } : done, turn };
}

type Told = Partial<SimulatedStep> & { turn: Turn };

/** What `advance` does with an outcome, where nothing is stored and time passes at once. */
function carryOut({ world, webhookAllowedHosts, horizon }: Moment, outcome: Outcome): Told {
  switch (outcome.kind) {
    case 'leave': {
      const { exit, status, output } = outcome;
      const reason = status === 'SKIPPED' && typeof output?.reason === 'string' ? output.reason : null;
      return { status, output: output ?? null, reason, turn: { exit } };
    }
    case 'end': {
      const { status, reason } = outcome;
      return { status: status === 'FAILED' ? 'FAILED' : 'COMPLETED', reason, turn: { end: { status, reason } } };
    }
    case 'webhook': {
      const refusal = targetRefusal(outcome.request.url, webhookAllowedHosts);
      const { request: webhook } = outcome;
      if (!refusal) return { webhook, turn: { exit: 'next' } };
      const reason = `The request was not made: ${refusal}.`;
      return { webhook: null, status: 'FAILED', reason, turn: { end: { status: 'FAILED', reason } } };
    }
    case 'sleep':
      return sleep(world, outcome.until, horizon);
    case 'wait':
      return wait(world, outcome.event, outcome.until, horizon);
  }
}

const tooLate = (until: Date): Told => {
  const reason = `the simulation ends here: ${until.toISOString()} is too far away`;
  return { status: 'WAITING', scheduledFor: until, leftAt: null, turn: { end: { status: 'STOPPED', reason } } };
};

function sleep(world: World, until: Date, horizon: Date): Told {
  if (until > horizon) return tooLate(until);
  if (until > world.now) world.passTo(until);
  world.cutHere();
  return { scheduledFor: until, turn: { exit: 'next' } };
}

function wait(world: World, event: string, until: Date | undefined, horizon: Date): Told {
  const known = world.take(event);
  // One that is there already is not waited for.
  const scheduledFor = (!known && until) || null;
  const came = known ?? comes(world, event, until);
  if (came) {
    world.context = { ...world.context, ...came.data };
    const reason = `the event "${event}" came at ${came.createdAt.toISOString()}`;
    return { scheduledFor, reason, output: came.data, turn: { exit: 'event' } };
  }
  if (!until) {
    world.passToEnd();
    const reason = `the event "${event}" is not in the script, and nothing ends the wait`;
    return { status: 'WAITING', leftAt: null, reason, turn: { end: { status: 'WAITING', reason } } };
  }
  if (until > horizon) return tooLate(until);
  world.passTo(until);
  world.cutHere();
  return {
    scheduledFor,
    reason: `the event "${event}" did not come until ${until.toISOString()}`,
    turn: { exit: 'timeout' },
  };
}

function comes(world: World, event: string, until: Date | undefined) {
  const at = world.nextOf(event, until);
  if (!at) return undefined;
  world.passTo(at);
  return world.take(event);
}
