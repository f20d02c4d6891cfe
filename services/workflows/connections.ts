import { badRequest } from '../../platform/errors.ts';
import { type Branch, branches, type Exit, type Graph, type Step, type Transition } from './graph.ts';
import { stepTypes } from './steps/index.ts';
import { transitionFor } from './walk.ts';

// Which connections a graph may have; pure, so that drafts are held to the same rules.

export type Connection = Omit<Transition, 'id'>;

/** Why a transition may not be added; undefined when it may. */
export function refusalOfConnection(graph: Graph, added: Connection): string | undefined {
  const { fromStepId, toStepId, branch } = added;
  const from = graph.steps.find(({ id }) => id === fromStepId);
  if (!from || !graph.steps.some(({ id }) => id === toStepId)) return 'one of its steps is not in the workflow';
  if (fromStepId === toStepId) return 'a step cannot lead to itself';
  const { exits } = stepTypes[from.type];
  if (exits.length === 0) return 'nothing follows an EXIT step';
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

/** On a wait, a transition without a branch serves whichever exit has none of its own. */
const branchesOf = (exits: readonly Exit[]): (Branch | null)[] => {
  const own = branches.filter((branch) => exits.includes(branch));
  return own.includes('yes') ? own : [...own, null];
};

function wrongBranch({ name, type }: Step, exits: readonly Exit[]): string {
  const allowed = branchesOf(exits).map((branch) => (branch === null ? 'none' : `"${branch}"`));
  return `"branch" of a transition from "${name}" (${type}) must be ${allowed.join(' or ')}`;
}

const waits = ({ type }: Step): boolean => type === 'DELAY' || type === 'WAIT_FOR_EVENT';

/** Whether one can get from a step back to it without ever waiting. */
export function isCircle(graph: Graph, startId: string): boolean {
  const hasty = new Set(graph.steps.filter((step) => !waits(step)).map(({ id }) => id));
  if (!hasty.has(startId)) return false;
  const seen = new Set<string>();
  const next = [startId];
  for (let at = next.pop(); at !== undefined; at = next.pop())
    for (const { fromStepId, toStepId } of graph.transitions) {
      if (fromStepId !== at || !hasty.has(toStepId)) continue;
      if (toStepId === startId) return true;
      if (!seen.has(toStepId)) next.push(toStepId);
      seen.add(toStepId);
    }
  return false;
}

/** Where a new step is put by itself: the newest step that leads nowhere yet, and the exit by which. */
export function lastOpenExit(graph: Graph): Pick<Connection, 'fromStepId' | 'branch'> | undefined {
  for (const { id, type } of graph.steps.toReversed()) {
    const { exits } = stepTypes[type];
    const open = exits.filter((exit) => !transitionFor(graph, id, exit));
    const [exit] = open;
    if (exit === undefined) continue;
    const servesAll = exit === 'next' || (exits.includes('event') && open.length === exits.length);
    return { fromStepId: id, branch: servesAll ? null : (exit as Branch) };
  }
  return undefined;
}
