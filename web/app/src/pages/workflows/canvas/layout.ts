import { Graph, layout } from '@dagrejs/dagre';
import { type GraphStep, type GraphTransition, NEXT } from './graph.ts';

export const NODE_WIDTH = 236;
export const NODE_HEIGHT = 84;
const GAP_BESIDE = 44;
/** Room for the label of a transition. */
const GAP_BELOW = 84;

/** Where an exit stands below its step. */
export const exitOffset = (index: number, count: number): number => (NODE_WIDTH * (index + 0.5)) / count;

export interface Point {
  x: number;
  y: number;
}

/**
 * Places the steps from top to bottom. Positions follow from the graph alone, so everybody sees the same picture and
 * nobody has to tidy it up. `first` stands above all others and leads to the steps that nothing else leads to.
 */
export function placeSteps(
  steps: readonly Pick<GraphStep, 'id'>[],
  transitions: readonly GraphTransition[],
  first?: string,
): Map<string, Point> {
  const structure = JSON.stringify([
    first,
    steps.map(({ id }) => id),
    transitions.map(({ fromStepId, toStepId, branch }) => [fromStepId, toStepId, branch]),
  ]);
  const known = placed.get(structure);
  if (known) return known;
  const positions = place(steps, transitions, first);
  const [oldest = ''] = placed.keys();
  if (placed.size >= MAX_PLACED) placed.delete(oldest);
  placed.set(structure, positions);
  return positions;
}

/** Placing a large graph takes a while, and most changes of a draft leave its shape as it is. */
const placed = new Map<string, Map<string, Point>>();
const MAX_PLACED = 8;

function place(
  steps: readonly Pick<GraphStep, 'id'>[],
  transitions: readonly GraphTransition[],
  first: string | undefined,
): Map<string, Point> {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: GAP_BESIDE, ranksep: GAP_BELOW, marginx: 0, marginy: 0 });
  graph.setDefaultEdgeLabel(() => ({}));
  const size = { width: NODE_WIDTH, height: NODE_HEIGHT };
  if (first !== undefined) graph.setNode(first, { ...size });
  for (const { id } of steps) graph.setNode(id, { ...size });
  const reached = new Set(transitions.map(({ toStepId }) => toStepId));
  if (first !== undefined) for (const { id } of steps) if (!reached.has(id)) graph.setEdge(first, id);
  // dagre puts the step of the first edge rightmost. Reversed, the steps stand in the order of the exits above them.
  for (const { fromStepId, toStepId, branch } of [...transitions].reverse())
    if (graph.hasNode(fromStepId) && graph.hasNode(toStepId)) graph.setEdge(fromStepId, toStepId, {}, branch ?? NEXT);
  layout(graph);
  return new Map(
    graph.nodes().map((id: string) => {
      const { x = 0, y = 0 } = graph.node(id) as Partial<Point>;
      return [id, { x: Math.round(x - NODE_WIDTH / 2), y: Math.round(y - NODE_HEIGHT / 2) }];
    }),
  );
}
