import { badRequest } from '../../platform/errors.ts';
import { type Branch, branches, type Graph, type Step, type StepExit, type Transition } from './graph.ts';
import { stepTypeOf } from './steps/index.ts';
import { transitionFor } from './walk.ts';

// The rules for transitions. Pure, so that they hold for stored graphs and for drafts of simulations.

export type Connection = Omit<Transition, 'id'>;

/** Returns why a transition may not be added, or undefined when it may. */
export function refusalOfConnection(graph: Graph, added: Connection): string | undefined {
  const { fromStepId, toStepId, branch } = added;
  const from = graph.steps.find(({ id }) => id === fromStepId);
  if (!from || !graph.steps.some(({ id }) => id === toStepId)) return 'one of its steps is not in the workflow';
  if (fromStepId === toStepId) return 'a step cannot lead to itself';
  const { exits } = stepTypeOf(from);
  if (exits.length === 0) return `nothing follows an ${from.type} step`;
  if (!branchesOf(exits).includes(branch)) return wrongBranch(from, exits);
  if (graph.transitions.some((other) => other.fromStepId === fromStepId && other.branch === branch))
    return `the ${branch === null ? 'exit' : `exit "${branch}"`} of "${from.name}" already leads somewhere`;
  if (isCircle({ ...graph, transitions: [...graph.transitions, { id: '', ...added }] }, toStepId)) return CIRCLE;
  return undefined;
}

export const CIRCLE = 'it closes a circle in which nothing ever waits: put a DELAY or a WAIT_FOR_EVENT into it';

export function requireConnection(graph: Graph, added: Connection): void {
  const refusal = refusalOfConnection(graph, added);
  if (refusal) throw badRequest(`The transition is refused: ${refusal}.`);
}

/** A transition without a branch serves every exit of a wait that has no transition of its own. */
const branchesOf = (exits: readonly StepExit[]): (Branch | null)[] => {
  const own = branches.filter((branch) => exits.includes(branch));
  return own.includes('yes') ? own : [...own, null];
};

function wrongBranch({ name, type }: Step, exits: readonly StepExit[]): string {
  const allowed = branchesOf(exits).map((branch) => (branch === null ? 'none' : `"${branch}"`));
  return `"branch" of a transition from "${name}" (${type}) must be ${allowed.join(' or ')}`;
}

/** Returns whether a path leads from a step back to it without passing a step that waits. */
export function isCircle(graph: Graph, startId: string): boolean {
  const immediate = new Set(graph.steps.filter((step) => !stepTypeOf(step).waits).map(({ id }) => id));
  if (!immediate.has(startId)) return false;
  const seen = new Set<string>();
  const open = [startId];
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const { fromStepId, toStepId } of graph.transitions) {
      if (fromStepId !== at || !immediate.has(toStepId)) continue;
      if (toStepId === startId) return true;
      if (!seen.has(toStepId)) open.push(toStepId);
      seen.add(toStepId);
    }
  return false;
}

/** Returns where `autoConnect` attaches a new step: the newest step with an open exit, and the branch of that exit. */
export function lastOpenExit(graph: Graph): Pick<Connection, 'fromStepId' | 'branch'> | undefined {
  for (const step of graph.steps.toReversed()) {
    const { exits } = stepTypeOf(step);
    const open = exits.filter((exit) => !transitionFor(graph, step.id, exit));
    const [exit] = open;
    if (exit === undefined) continue;
    const servesAll = exit === 'next' || (exits.includes('event') && open.length === exits.length);
    return { fromStepId: step.id, branch: servesAll ? null : (exit as Branch) };
  }
  return undefined;
}
