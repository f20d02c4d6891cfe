// The graph of a draft, and the changes that an editor makes to it. Nothing here changes its input.
import { exitKey, isSameJson, mergeGraphs } from '../../../../../../platform/merge-graphs.ts';
import type { StepTypeInfo, WorkflowDraft } from '../../../api/types.ts';
import { type GraphTransition, NEXT, type Place } from './graph.ts';

export type DraftGraph = WorkflowDraft['graph'];
export type DraftStep = DraftGraph['steps'][number];
/** What a draft contains: everything that undo and redo go through. */
export type DraftContent = Pick<WorkflowDraft, 'graph' | 'triggerType' | 'triggerConfig' | 'allowReentry'>;

export type StepTypes = ReadonlyMap<string, StepTypeInfo>;

/** Returns the ways out of a step, in drawing order, as its type declares them. */
export function exitsOf(types: StepTypes, { type, config }: Pick<DraftStep, 'type' | 'config'>): string[] {
  const declared = types.get(type);
  if (!declared) return [NEXT];
  return declared.exitsFrom === null ? declared.exits : namesAt(config, declared.exitsFrom);
}

/** Reads the texts at a path such as `branches[].name`. */
function namesAt(config: unknown, path: string): string[] {
  let found: unknown[] = [config];
  for (const part of path.split('.')) {
    const key = part.replace(/\[\]$/, '');
    found = found.map((value) => (value as Record<string, unknown> | null | undefined)?.[key]);
    if (part.endsWith('[]')) found = found.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : []));
  }
  return found.filter((value) => typeof value === 'string' && value !== '') as string[];
}

export const branchOf = (exit: string): string | null => (exit === NEXT ? null : exit);

export const targetOf = ({ transitions }: DraftGraph, fromStepId: string, branch: string | null): string | undefined =>
  transitions.find((other) => other.fromStepId === fromStepId && other.branch === branch)?.toStepId;

/** Returns the first exit that leads nowhere, else the first one; undefined when nothing can follow the step. */
export function exitToExtend(graph: DraftGraph, types: StepTypes, step: DraftStep): string | undefined {
  const exits = exitsOf(types, step);
  return exits.find((exit) => targetOf(graph, step.id, branchOf(exit)) === undefined) ?? exits[0];
}

export const entriesOf = ({ steps, transitions }: DraftGraph): DraftStep[] => {
  const reached = new Set(transitions.map(({ toStepId }) => toStepId));
  return steps.filter(({ id }) => !reached.has(id));
};

/** Connects an exit, in place of where it leads now. */
export function connect(graph: DraftGraph, added: GraphTransition): DraftGraph {
  if (added.fromStepId === added.toStepId) return graph;
  const key = exitKey(added);
  const others = graph.transitions.filter((other) => exitKey(other) !== key);
  return { ...graph, transitions: [...others, added] };
}

export const disconnect = (graph: DraftGraph, exit: Exclude<Place, null>): DraftGraph => ({
  ...graph,
  transitions: graph.transitions.filter((other) => exitKey(other) !== exitKey(exit)),
});

/** Adds a step at a place. What followed there follows the new step. */
export function addStep(graph: DraftGraph, types: StepTypes, place: Place, step: DraftStep): DraftGraph {
  const added = { ...graph, steps: [...graph.steps, step] };
  const [exit] = exitsOf(types, step);
  const follow = (from: DraftGraph, toStepId: string | undefined): DraftGraph =>
    toStepId === undefined || exit === undefined
      ? from
      : connect(from, { fromStepId: step.id, toStepId, branch: branchOf(exit) });
  if (place === null) return follow(added, entriesOf(graph)[0]?.id);
  return follow(connect(added, { ...place, toStepId: step.id }), targetOf(graph, place.fromStepId, place.branch));
}

/** Removes steps. What led to one of them leads to what followed it by its first exit. */
export function removeSteps(graph: DraftGraph, types: StepTypes, ids: ReadonlySet<string>): DraftGraph {
  const byId = new Map(graph.steps.map((step) => [step.id, step]));
  const afterRemoved = (id: string, seen = new Set<string>()): string | undefined => {
    const step = byId.get(id);
    if (!step || !ids.has(id)) return step && id;
    if (seen.has(id)) return undefined;
    seen.add(id);
    const next = exitsOf(types, step)
      .map((exit) => targetOf(graph, id, branchOf(exit)))
      .find((target) => target !== undefined);
    const unbranched = next ?? targetOf(graph, id, null);
    return unbranched === undefined ? undefined : afterRemoved(unbranched, seen);
  };
  const transitions = graph.transitions.flatMap((transition) => {
    if (ids.has(transition.fromStepId)) return [];
    const toStepId = afterRemoved(transition.toStepId);
    return toStepId === undefined || toStepId === transition.fromStepId ? [] : [{ ...transition, toStepId }];
  });
  return { steps: graph.steps.filter(({ id }) => !ids.has(id)), transitions };
}

/** Changes a step. A renamed exit keeps where it leads; one that is gone leads nowhere. */
export function changeStep(
  graph: DraftGraph,
  types: StepTypes,
  id: string,
  change: Partial<Pick<DraftStep, 'name' | 'config' | 'templateId'>>,
): DraftGraph {
  const before = graph.steps.find((step) => step.id === id);
  if (!before) return graph;
  const after = { ...before, ...change };
  const steps = graph.steps.map((step) => (step.id === id ? after : step));
  const old = exitsOf(types, before);
  const now = exitsOf(types, after);
  if (old.join('\n') === now.join('\n')) return { ...graph, steps };
  const transitions = graph.transitions.flatMap((transition) => {
    if (transition.fromStepId !== id || transition.branch === null) return [transition];
    if (now.includes(transition.branch)) return [transition];
    const renamed = old.length === now.length ? now[old.indexOf(transition.branch)] : undefined;
    if (renamed !== undefined) return [{ ...transition, branch: renamed }];
    return old.includes(transition.branch) ? [] : [transition];
  });
  return { steps, transitions };
}

/** Steps that were copied, with the transitions between them. */
export type CopiedSteps = DraftGraph;

export const copySteps = (graph: DraftGraph, ids: ReadonlySet<string>): CopiedSteps => ({
  steps: graph.steps.filter(({ id }) => ids.has(id)),
  transitions: graph.transitions.filter(({ fromStepId, toStepId }) => ids.has(fromStepId) && ids.has(toStepId)),
});

/** Adds copies under new ids, after the given step when one of its exits is open. Returns the new ids too. */
export function pasteSteps(
  graph: DraftGraph,
  types: StepTypes,
  copied: CopiedSteps,
  { after, newId }: { after: string | undefined; newId(): string },
): { graph: DraftGraph; ids: string[] } {
  const ids = new Map(copied.steps.map(({ id }) => [id, newId()]));
  const renamed = (id: string): string => ids.get(id) ?? id;
  const copies: DraftGraph = {
    steps: copied.steps.map((step) => ({ ...step, id: renamed(step.id) })),
    transitions: copied.transitions.map(({ fromStepId, toStepId, branch }) => ({
      fromStepId: renamed(fromStepId),
      toStepId: renamed(toStepId),
      branch,
    })),
  };
  const all: DraftGraph = {
    steps: [...graph.steps, ...copies.steps],
    transitions: [...graph.transitions, ...copies.transitions],
  };
  const from = graph.steps.find(({ id }) => id === after);
  const first = entriesOf(copies)[0] ?? copies.steps[0];
  const exit = from && exitsOf(types, from).find((name) => targetOf(graph, from.id, branchOf(name)) === undefined);
  if (!from || !first || exit === undefined) return { graph: all, ids: [...ids.values()] };
  const joined = connect(all, { fromStepId: from.id, toStepId: first.id, branch: branchOf(exit) });
  return { graph: joined, ids: [...ids.values()] };
}

/** Merges two edits: what I have changed is mine, everything else is theirs. */
export function mergeContent(base: DraftContent, mine: DraftContent, theirs: DraftContent): DraftContent {
  const pick = <Key extends keyof DraftContent>(key: Key): DraftContent[Key] =>
    isSameJson(base[key], mine[key]) ? theirs[key] : mine[key];
  return {
    graph: mergeGraphs(base.graph, mine.graph, theirs.graph),
    triggerType: pick('triggerType'),
    triggerConfig: pick('triggerConfig'),
    allowReentry: pick('allowReentry'),
  };
}

export const contentOf = ({ graph, triggerType, triggerConfig, allowReentry }: WorkflowDraft): DraftContent => ({
  graph,
  triggerType,
  triggerConfig,
  allowReentry,
});

type Direction = 'up' | 'down' | 'left' | 'right';

/** Returns the step that an arrow key leads to: the nearest one in that direction. */
export function neighbourOf(
  positions: ReadonlyMap<string, { x: number; y: number }>,
  from: string,
  direction: Direction,
): string | undefined {
  const at = positions.get(from);
  if (!at) return undefined;
  const vertical = direction === 'up' || direction === 'down';
  const sign = direction === 'down' || direction === 'right' ? 1 : -1;
  let best: { id: string; distance: number } | undefined;
  for (const [id, { x, y }] of positions) {
    const along = sign * (vertical ? y - at.y : x - at.x);
    const across = Math.abs(vertical ? x - at.x : y - at.y);
    if (id === from || along < 1) continue;
    const distance = along + 2 * across;
    if (!best || distance < best.distance) best = { id, distance };
  }
  return best?.id;
}
