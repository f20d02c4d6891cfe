import { badRequest } from '../../platform/errors.ts';
import { type Branch, type Connection, exitsOf, type Graph, type Step } from './graph.ts';
import { stepTypeOf } from './steps/index.ts';
import { transitionFor } from './walk.ts';

// The rules for transitions. Pure, so that they hold for stored graphs and for drafts of simulations.

/** Returns why a transition may not be added, or undefined when it may. */
export function refusalOfConnection(graph: Graph, added: Connection): string | undefined {
  const { fromStepId, toStepId, branch } = added;
  const from = graph.steps.find(({ id }) => id === fromStepId);
  if (!from || !graph.steps.some(({ id }) => id === toStepId)) return 'it connects a step that is not in the workflow';
  if (fromStepId === toStepId) return 'a step cannot lead to itself';
  if (isLast(from)) return `no step can follow an ${from.type} step`;
  if (!branchesOf(from).includes(branch)) return wrongBranch(from);
  if (graph.transitions.some((other) => other.fromStepId === fromStepId && other.branch === branch))
    return `the ${branch === null ? 'exit' : `exit "${branch}"`} of "${from.name}" is already connected`;
  if (isCircle({ ...graph, transitions: [...graph.transitions, added] }, toStepId)) return CIRCLE;
  return undefined;
}

export const CIRCLE = 'it creates a loop without a wait: add a DELAY or WAIT_FOR_EVENT step to the loop';

export function requireConnection(graph: Graph, added: Connection): void {
  const refusal = refusalOfConnection(graph, added);
  if (refusal) throw badRequest(`The transition is not allowed: ${refusal}.`);
}

const isLast = ({ type }: Step): boolean => {
  const { exits, exitsOf: ofConfig } = stepTypeOf({ type });
  return exits.length === 0 && !ofConfig;
};

/** A transition without a branch serves every exit of a wait that has no transition. */
function branchesOf(step: Step): (Branch | null)[] {
  const exits = exitsOf(step);
  const own = exits.filter((exit) => exit !== 'next');
  return exits.includes('next') || exits.includes('timeout') ? [...own, null] : [...own];
}

function wrongBranch(step: Step): string {
  const { name, type } = step;
  const allowed = branchesOf(step).map((branch) => (branch === null ? 'none' : `"${branch}"`));
  if (allowed.length === 0) return `"${name}" (${type}) has no branches yet`;
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
    const exits = exitsOf(step);
    const open = exits.filter((exit) => !transitionFor(graph, step.id, exit));
    const [exit] = open;
    if (exit === undefined) continue;
    const servesAll = exit === 'next' || (exits.includes('event') && open.length === exits.length);
    return { fromStepId: step.id, branch: servesAll ? null : exit };
  }
  return undefined;
}
