import { Graph, layout } from '@dagrejs/dagre';
import { exitKey } from '../../../../../../platform/merge-graphs.ts';
import { type GraphStep, type GraphTransition, NEXT } from './graph.ts';

export const NODE_WIDTH = 264;
/** The type and name of a step, what it does, and its numbers. */
const NODE_HEIGHT = 104;
/** A step that sends emails has a subject and the results of the emails too. */
const EMAIL_HEIGHT = 142;
const GAP_BESIDE = 44;
/** From a step to the label of a transition, and from there to the next step. */
const GAP_BELOW = 38;
const LABEL_HEIGHT = 26;
/** Between a label and the lines above it. */
const GAP_ABOVE_LABEL = 4;
/** Between a line that leads back up and what it goes around. */
const GAP_AROUND = 32;
const MAX_LABEL_WIDTH = 200;

export const nodeHeight = (type: string): number => (type === 'SEND_EMAIL' ? EMAIL_HEIGHT : NODE_HEIGHT);

/** Where an exit stands below its step. */
export const exitOffset = (index: number, count: number): number => (NODE_WIDTH * (index + 0.5)) / count;

export interface Point {
  x: number;
  y: number;
}

/** The way of a line between the exit that it leaves and the step that it enters. */
export interface Route {
  /** Its corners; between two of them the line is straight. */
  bends: Point[];
  label: Point;
}

export interface Layout {
  /** The upper left corners of the steps. */
  steps: Map<string, Point>;
  /** By `exitKey`; a line from the start has the key `startKey`. */
  routes: Map<string, Route>;
}

export const startKey = (toStepId: string): string => `start ${toStepId}`;

interface Line extends GraphTransition {
  key: string;
}

type Step = Pick<GraphStep, 'id' | 'type'>;

/**
 * Places the steps from top to bottom. Positions follow from the graph alone, so everybody sees the same picture and
 * no one has to tidy it up. `first` stands above all others and leads to the steps that nothing else leads to.
 */
export function placeSteps(
  steps: readonly Step[],
  transitions: readonly GraphTransition[],
  { first, labelOf = () => '' }: { first?: string | undefined; labelOf?: (transition: GraphTransition) => string } = {},
): Layout {
  const lines = linesOf(steps, transitions, first);
  const structure = JSON.stringify([
    first,
    steps.map(({ id, type }) => [id, nodeHeight(type)]),
    lines.map((line) => [line.fromStepId, line.toStepId, line.branch, labelOf(line).length]),
  ]);
  const known = placed.get(structure);
  if (known) return known;
  const positions = place(steps, lines, first, labelOf);
  const [oldest = ''] = placed.keys();
  if (placed.size >= MAX_PLACED) placed.delete(oldest);
  placed.set(structure, positions);
  return positions;
}

/** Placing a large graph takes a while, and most changes of a draft leave its shape as it is. */
const placed = new Map<string, Layout>();
const MAX_PLACED = 8;

function linesOf(steps: readonly Step[], transitions: readonly GraphTransition[], first: string | undefined): Line[] {
  const known = new Set(steps.map(({ id }) => id));
  const reached = new Set(transitions.map(({ toStepId }) => toStepId));
  const entries = first === undefined ? [] : steps.filter(({ id }) => !reached.has(id));
  return [
    ...entries.map(({ id }) => ({ key: startKey(id), fromStepId: first ?? '', toStepId: id, branch: null })),
    ...transitions
      .filter(({ fromStepId, toStepId }) => known.has(fromStepId) && known.has(toStepId))
      .map((transition) => ({ ...transition, key: exitKey(transition) })),
  ];
}

function place(
  steps: readonly Step[],
  lines: Line[],
  first: string | undefined,
  labelOf: (transition: GraphTransition) => string,
): Layout {
  const graph = new Graph({ multigraph: true });
  // dagre halves the gap, and puts labels between two rows of steps.
  graph.setGraph({ rankdir: 'TB', nodesep: GAP_BESIDE, edgesep: 16, ranksep: 2 * GAP_BELOW, marginx: 0, marginy: 0 });
  const heights = new Map(steps.map(({ id, type }) => [id, nodeHeight(type)]));
  if (first !== undefined) heights.set(first, NODE_HEIGHT);
  for (const [id, height] of heights) graph.setNode(id, { width: NODE_WIDTH, height });
  const backwards = backwardsOf(heights.keys(), lines);
  // dagre puts the step of the first edge rightmost. Reversed, the steps stand in the order of the exits above them.
  for (const line of lines.toReversed()) {
    if (backwards.has(line)) continue;
    const label = { width: labelWidth(labelOf(line)), height: LABEL_HEIGHT, labelpos: 'c' };
    graph.setEdge(line.fromStepId, line.toStepId, label, line.branch ?? NEXT);
  }
  layout(graph);
  const boxes = new Map<string, Box>(
    graph.nodes().map((id: string) => {
      const { x = 0, y = 0 } = graph.node(id) as Partial<Point>;
      return [id, { x, y, height: heights.get(id) ?? NODE_HEIGHT }];
    }),
  );
  const edges = lines
    .filter((line) => !backwards.has(line))
    .map((line): [Line, DrawnEdge] => [
      line,
      graph.edge(line.fromStepId, line.toStepId, line.branch ?? NEXT) as unknown as DrawnEdge,
    ]);
  const routes = routesOf(boxes, edges);
  for (const [key, route] of routesBack(boxes, edges, [...backwards], labelOf)) routes.set(key, route);
  const corners = [...boxes].map(([id, { x, y, height }]): [string, Point] => [
    id,
    { x: Math.round(x - NODE_WIDTH / 2), y: Math.round(y - height / 2) },
  ]);
  return { steps: new Map(corners), routes };
}

/** Room for the text, a share such as 100 %, and a button. */
const labelWidth = (text: string): number => (text === '' ? 76 : Math.min(text.length * 7 + 90, MAX_LABEL_WIDTH + 34));

/** Finds lines that lead back to a step on the way to them. */
function backwardsOf(ids: Iterable<string>, lines: Line[]): Set<Line> {
  const exits = new Map<string, Line[]>();
  for (const line of lines) exits.set(line.fromStepId, [...(exits.get(line.fromStepId) ?? []), line]);
  const backwards = new Set<Line>();
  const done = new Set<string>();
  for (const id of ids) {
    if (done.has(id)) continue;
    // Without recursion: a chain may be long.
    const path = [{ id, rest: [...(exits.get(id) ?? [])] }];
    const onPath = new Set([id]);
    for (let at = path.at(-1); at; at = path.at(-1)) {
      const line = at.rest.shift();
      if (!line) {
        onPath.delete(at.id);
        done.add(at.id);
        path.pop();
      } else if (onPath.has(line.toStepId)) backwards.add(line);
      else if (!done.has(line.toStepId)) {
        onPath.add(line.toStepId);
        path.push({ id: line.toStepId, rest: [...(exits.get(line.toStepId) ?? [])] });
      }
    }
  }
  return backwards;
}

interface Box extends Point {
  height: number;
}

interface DrawnEdge extends Point {
  width: number;
  points: Point[];
}

type Boxes = ReadonlyMap<string, Box>;

/** Half the height of each row of steps and of labels, by its middle. */
function rowsOf(boxes: Boxes, edges: [Line, DrawnEdge][]): Map<number, number> {
  const rows = new Map<number, number>();
  const grow = (y: number, half: number) => rows.set(Math.round(y), Math.max(rows.get(Math.round(y)) ?? 0, half));
  for (const { y, height } of boxes.values()) grow(y, height / 2);
  for (const [, { y }] of edges) grow(y, LABEL_HEIGHT / 2);
  return rows;
}

/**
 * Lines run straight down through the columns that dagre keeps free for them, and sideways only between the rows: so they
 * cross neither a step nor a label.
 */
function routesOf(boxes: Boxes, edges: [Line, DrawnEdge][]): Map<string, Route> {
  const rows = rowsOf(boxes, edges);
  const above = (y: number): number => y - (rows.get(Math.round(y)) ?? 0) - GAP_ABOVE_LABEL;
  return new Map(
    edges.map(([{ key, toStepId }, { x, y, points }]) => {
      const bends: Point[] = [];
      for (const point of points.slice(1, -1)) {
        const before = bends.at(-1);
        if (before) bends.push({ x: before.x, y: above(point.y) });
        bends.push({ x: point.x, y: above(point.y) });
      }
      const last = bends.at(-1);
      const target = boxes.get(toStepId);
      if (last && target) bends.push({ x: last.x, y: above(target.y) });
      return [key, { bends, label: { x, y } }];
    }),
  );
}

/** Lines that lead back up pass on the right of everything else. */
function routesBack(
  boxes: Boxes,
  edges: [Line, DrawnEdge][],
  backwards: Line[],
  labelOf: (transition: GraphTransition) => string,
): Map<string, Route> {
  const rows = rowsOf(boxes, edges);
  let right = Math.max(
    0,
    ...[...boxes.values()].map(({ x }) => x + NODE_WIDTH / 2),
    ...edges.map(([, { x, width }]) => x + width / 2),
  );
  const routes = new Map<string, Route>();
  for (const line of backwards) {
    const from = boxes.get(line.fromStepId);
    const to = boxes.get(line.toStepId);
    if (!from || !to) continue;
    const width = labelWidth(labelOf(line));
    const x = right + GAP_AROUND + width / 2;
    right += GAP_AROUND + width;
    const half = ({ y }: Box) => rows.get(Math.round(y)) ?? 0;
    const bottom = from.y + half(from) + GAP_BELOW - GAP_ABOVE_LABEL;
    const top = to.y - half(to) - GAP_ABOVE_LABEL;
    const bends = [
      { x, y: bottom },
      { x, y: top },
    ];
    routes.set(line.key, { bends, label: { x, y: (bottom + top) / 2 } });
  }
  return routes;
}

const RADIUS = 10;

/** Draws a line from an exit through the bends to a step, with round corners. */
export function pathOf(from: Point, bends: readonly Point[], to: Point): string {
  const first = bends[0] ?? { x: to.x, y: (from.y + to.y) / 2 };
  const last = bends.at(-1) ?? first;
  const points = [from, { x: from.x, y: first.y }, ...bends, { x: to.x, y: last.y }, to];
  const corners = points.filter((point, index) => {
    const before = points[index - 1];
    return !before || Math.abs(before.x - point.x) + Math.abs(before.y - point.y) > 0.5;
  });
  const end = corners.at(-1) ?? to;
  const drawn = corners.slice(1, -1).map((corner, index) => {
    const before = corners[index] ?? corner;
    const after = corners[index + 2] ?? corner;
    const radius = Math.min(RADIUS, distance(before, corner) / 2, distance(corner, after) / 2);
    const start = towards(corner, before, radius);
    const stop = towards(corner, after, radius);
    return `L ${start.x} ${start.y} Q ${corner.x} ${corner.y} ${stop.x} ${stop.y}`;
  });
  return [`M ${from.x} ${from.y}`, ...drawn, `L ${end.x} ${end.y}`].join(' ');
}

const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);

function towards(from: Point, to: Point, length: number): Point {
  const whole = distance(from, to) || 1;
  return { x: from.x + ((to.x - from.x) * length) / whole, y: from.y + ((to.y - from.y) * length) / whole };
}
