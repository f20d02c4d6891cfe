import { exitKey } from '../../../../../../platform/merge-graphs.ts';
import '@xyflow/react/dist/base.css';
import './canvas.css';
import { useComputedColorScheme } from '@mantine/core';
import { useReducedMotion } from '@mantine/hooks';
import {
  Background,
  Controls,
  MiniMap,
  type NodeMouseHandler,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react';
import { type ReactNode, useEffect, useRef } from 'react';
import { t } from '../../../texts/index.ts';
import { branchName, typeName } from '../steps.ts';
import { exitOf, type GraphStep, type GraphTransition, NEXT, START } from './graph.ts';
import {
  exitOffset,
  type Layout,
  NODE_WIDTH,
  nodeHeight,
  type Point,
  placeSteps,
  type Route,
  startKey,
} from './layout.ts';
import { StepEdge, type StepEdgeType } from './step-edge.tsx';
import { type StepEditing, StepNode, type StepNodeType, type StepProblem, type StepTone } from './step-node.tsx';
import type { StepSummary } from './summary.ts';

export interface GraphViewProps {
  /** Names the drawing for screen readers. */
  label: string;
  steps: readonly GraphStep[];
  transitions: readonly GraphTransition[];
  /** What starts the workflow; drawn above the first step. */
  start?: string;
  /** Names a type of step; by default as the application does. */
  typeLabel?: (type: string) => string;
  /** Ways out of a step, in drawing order. Those of its transitions are always drawn. */
  exitsOf?: (step: GraphStep) => readonly string[];
  selected?: ReadonlySet<string>;
  /** Called with the id of a step, `START`, or undefined for the empty canvas. */
  onSelect?: (id: string | undefined, options: { extend: boolean }) => void;
  /** The highlighted path: ids of steps, and keys of transitions (`exitKey`). */
  path?: { steps: ReadonlySet<string>; transitions: ReadonlySet<string> };
  /** The step where the token stands. */
  current?: string | undefined;
  /** Colours of steps apart from the path, such as those with faults. */
  tones?: ReadonlyMap<string, StepTone>;
  /** What each step does, in a line or two. Entries that stay the same objects are not drawn anew. */
  summaries?: ReadonlyMap<string, StepSummary> | undefined;
  /** Shown at the foot of a step. Entries that stay the same objects are not drawn anew. */
  badges?: ReadonlyMap<string, ReactNode>;
  /** What goes wrong at a step. */
  problems?: ReadonlyMap<string, StepProblem> | undefined;
  /** Shown on a transition beside its branch, by `exitKey`. */
  edgeLabels?: ReadonlyMap<string, string>;
  /** Brings this step into view when it changes. */
  follow?: string | undefined;
  minimap?: boolean;
  /** What the editor adds: buttons on transitions and open exits, and connecting by dragging. */
  editing?: StepEditing & { onConnect(from: GraphTransition): void };
}

/** Draws a workflow. It changes nothing: the editor and the player decide what it shows. */
export function GraphView(props: GraphViewProps) {
  return (
    <ReactFlowProvider>
      <Drawing {...props} />
    </ReactFlowProvider>
  );
}

const nodeTypes = { step: StepNode };
const edgeTypes = { step: StepEdge };
const none: ReadonlySet<string> = new Set();
const noExits = () => [];

function Drawing(props: GraphViewProps) {
  const { label, steps, transitions, start, selected = none, onSelect, follow, minimap, editing } = props;
  const scheme = useComputedColorScheme('light');
  const layout = placeSteps(steps, transitions, {
    first: start === undefined ? undefined : START,
    labelOf: ({ branch }) => (branch === null ? '' : branchName(branch)),
  });
  const nodes = useNodes(props, layout.steps);
  const edges = useEdges(props, layout.routes);
  useFollow(follow, layout, steps);
  const select: NodeMouseHandler = (event, { id }) =>
    onSelect?.(id, { extend: event.shiftKey || event.ctrlKey || event.metaKey });
  return (
    <section className="workflow-graph" aria-label={label} data-selected={selected.size}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        colorMode={scheme}
        // A graph that does not fit begins at its first step: only what is in view is drawn, so there must be something.
        fitView={nodes.length <= MOST_THAT_FIT}
        onInit={(flow) => {
          const first = nodes[0]?.position;
          if (!first || nodes.length <= MOST_THAT_FIT) return;
          void flow.setCenter(first.x + NODE_WIDTH / 2, first.y + 300, { zoom: 0.7 });
        }}
        fitViewOptions={FIT}
        minZoom={0.1}
        maxZoom={1.5}
        onlyRenderVisibleElements
        nodesDraggable={false}
        nodesConnectable={editing !== undefined}
        connectOnClick={false}
        elementsSelectable={false}
        nodesFocusable={onSelect !== undefined}
        edgesFocusable={false}
        // Keys are those of the owner: selecting, moving and deleting follow the graph, not the drawing.
        disableKeyboardA11y
        deleteKeyCode={null}
        selectionKeyCode={null}
        multiSelectionKeyCode={null}
        zoomActivationKeyCode={null}
        panActivationKeyCode={null}
        panOnScroll
        zoomOnDoubleClick={false}
        onNodeClick={select}
        onPaneClick={() => onSelect?.(undefined, { extend: false })}
        onConnect={({ source, sourceHandle, target }) =>
          editing?.onConnect({
            fromStepId: source,
            toStepId: target,
            branch: sourceHandle === NEXT ? null : sourceHandle,
          })
        }
        isValidConnection={({ source, target }) => source !== target && target !== START}
        ariaLabelConfig={{
          'controls.ariaLabel': t.canvas.zoom,
          'controls.zoomIn.ariaLabel': t.canvas.zoomIn,
          'controls.zoomOut.ariaLabel': t.canvas.zoomOut,
          'controls.fitView.ariaLabel': t.canvas.fitView,
        }}
        proOptions={{ hideAttribution: true }}
      >
        <Background gap={24} />
        {/* At the top, where a graph has one step in the middle: below, the buttons would cover steps on a small screen. */}
        <Controls position="top-left" showInteractive={false} fitViewOptions={FIT} />
        {minimap && (
          <MiniMap
            pannable
            zoomable
            position="top-right"
            style={MINIMAP}
            ariaLabel={t.canvas.minimap}
            nodeClassName={toneOfNode}
          />
        )}
      </ReactFlow>
    </section>
  );
}

const MOST_THAT_FIT = 30;
const MINIMAP = { width: 128, height: 96 };
const FIT = { padding: 0.12, maxZoom: 1, minZoom: 0.3 };

const toneOfNode = ({ data }: { data: object }): string => (data as { tone?: string }).tone ?? '';

/** Returns the item of the last time when nothing that it is made of has changed: React Flow compares by identity. */
function useStable<T>(): (key: string, parts: readonly unknown[], make: () => T) => T {
  const known = useRef(new Map<string, { parts: readonly unknown[]; item: T }>());
  return (key, parts, make) => {
    const before = known.current.get(key);
    if (before?.parts.every((part, index) => Object.is(part, parts[index]))) return before.item;
    const item = make();
    known.current.set(key, { parts, item });
    return item;
  };
}

function useNodes(props: GraphViewProps, positions: Map<string, Point>): StepNodeType[] {
  const {
    steps,
    transitions,
    start,
    exitsOf = noExits,
    typeLabel = typeName,
    selected = none,
    onSelect,
    path,
    current,
    tones,
    badges,
    summaries,
    problems,
  } = props;
  const stable = useStable<StepNodeType>();
  const used = new Map<string, string[]>();
  for (const transition of transitions) {
    const { fromStepId } = transition;
    used.set(fromStepId, [...(used.get(fromStepId) ?? []), exitOf(transition)]);
  }
  const node = (step: GraphStep, exits: readonly string[], isStart: boolean): StepNodeType => {
    const { id, type, name } = step;
    const { x, y } = positions.get(id) ?? { x: 0, y: 0 };
    const taken = used.get(id) ?? [];
    const drawn = [...exits, ...taken.filter((exit) => !exits.includes(exit))];
    const tone = current === id ? 'current' : (tones?.get(id) ?? (path?.steps.has(id) ? 'path' : undefined));
    const faded = path !== undefined && !path.steps.has(id) && !isStart;
    const isSelected = selected.has(id);
    const open = drawn.filter((exit) => !taken.includes(exit)).join('\n');
    const badge = badges?.get(id);
    const summary = summaries?.get(id);
    const problem = problems?.get(id);
    const label = typeLabel(type);
    const height = nodeHeight(type);
    const parts = [
      type,
      label,
      name,
      x,
      y,
      drawn.join('\n'),
      open,
      tone,
      faded,
      isSelected,
      badge,
      summary,
      problem,
      props.editing,
      !onSelect,
    ];
    return stable(id, parts, () => ({
      id,
      type: 'step',
      position: { x, y },
      width: NODE_WIDTH,
      height,
      // Steps out of view are not drawn and so never measured, and React Flow fits no graph before all are.
      measured: { width: NODE_WIDTH, height },
      handles: handlesOf(drawn, height, isStart),
      ariaLabel: [name, ...(isStart ? [] : [label]), ...(summary?.lines ?? [])].join(', '),
      className: isSelected ? 'selected' : '',
      data: {
        step,
        label,
        isStart,
        exits: drawn,
        open: open ? open.split('\n') : [],
        tone,
        faded,
        badge,
        summary,
        problem,
        editing: props.editing,
      },
    }));
  };
  const first = start === undefined ? [] : [node({ id: START, type: START, name: start }, startExits(props), true)];
  return [...first, ...steps.map((step) => node(step, exitsOf(step), false))];
}

/** The start has an open exit only while there is no step. */
const startExits = ({ steps }: GraphViewProps): string[] => (steps.length === 0 ? [NEXT] : []);

const HANDLE = 1;
function handlesOf(exits: readonly string[], height: number, isStart: boolean): NonNullable<StepNodeType['handles']> {
  const size = { width: HANDLE, height: HANDLE };
  const sources = (isStart ? [NEXT] : exits).map((id, index, { length }) => ({
    id,
    type: 'source' as const,
    position: Position.Bottom,
    ...size,
    x: exitOffset(index, length),
    y: height,
  }));
  if (isStart) return sources;
  return [{ id: null, type: 'target', position: Position.Top, x: NODE_WIDTH / 2, y: 0, ...size }, ...sources];
}

function useEdges(
  { steps, transitions, start, path, edgeLabels, editing }: GraphViewProps,
  routes: ReadonlyMap<string, Route>,
): StepEdgeType[] {
  const stable = useStable<StepEdgeType>();
  const names = new Map(steps.map(({ id, name }) => [id, name]));
  const edges = transitions
    .filter(({ fromStepId, toStepId }) => names.has(fromStepId) && names.has(toStepId))
    .map((transition) => {
      const key = exitKey(transition);
      const { fromStepId, toStepId, branch } = transition;
      const isOnPath = path?.transitions.has(key) ?? false;
      const faded = path !== undefined && !isOnPath;
      const number = edgeLabels?.get(key);
      const from = names.get(fromStepId) ?? '';
      const to = names.get(toStepId) ?? '';
      const route = routes.get(key);
      return stable(key, [toStepId, isOnPath, faded, number, from, to, editing, route], () => ({
        id: key,
        type: 'step',
        source: fromStepId,
        sourceHandle: branch ?? NEXT,
        target: toStepId,
        className: isOnPath ? 'on-path' : faded ? 'faded' : '',
        zIndex: isOnPath ? 1 : 0,
        data: {
          place: transition,
          label: branch === null ? undefined : branchName(branch),
          number,
          from,
          to,
          editing,
          route,
        },
      }));
    });
  if (start === undefined) return edges;
  const reached = new Set(transitions.map(({ toStepId }) => toStepId));
  const entries = steps.filter(({ id }) => !reached.has(id));
  const [first] = entries;
  const startEdge = ({ id, name }: GraphStep): StepEdgeType => {
    const route = routes.get(startKey(id));
    const canInsert = id === first?.id;
    return stable(`${START} ${id}`, [start, name, canInsert, editing, route], () => ({
      id: `${START} ${id}`,
      type: 'step',
      source: START,
      sourceHandle: NEXT,
      target: id,
      data: { ...(canInsert && { place: null, editing }), from: start, to: name, route },
    }));
  };
  return [...entries.map(startEdge), ...edges];
}

/** The buttons below a step are part of it. */
const BELOW = 60;

/** Moves the view to a step that is not in it, once for each of its places: a person may move the view away. */
function useFollow(id: string | undefined, { steps: positions }: Layout, steps: readonly GraphStep[]): void {
  const flow = useReactFlow();
  const calm = useReducedMotion();
  const followed = useRef('');
  useEffect(() => {
    const position = id === undefined ? undefined : positions.get(id);
    const place = position ? `${id} ${position.x} ${position.y}` : '';
    if (place === followed.current) return;
    const box = document.querySelector('.workflow-graph .react-flow')?.getBoundingClientRect();
    if (!box) return;
    followed.current = place;
    if (!position) return;
    const corner = flow.flowToScreenPosition(position);
    const height = nodeHeight(steps.find((step) => step.id === id)?.type ?? START);
    const end = flow.flowToScreenPosition({ x: position.x + NODE_WIDTH, y: position.y + height });
    const isInside = corner.x >= box.left && corner.y >= box.top && end.x <= box.right && end.y + BELOW <= box.bottom;
    if (isInside) return;
    const zoom = Math.max(flow.getZoom(), FIT.minZoom);
    void flow.setCenter(position.x + NODE_WIDTH / 2, position.y + height / 2, { zoom, duration: calm ? 0 : 150 });
  }, [id, positions, steps, flow, calm]);
}
