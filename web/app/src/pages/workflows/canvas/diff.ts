// What differs between two graphs of a workflow, for people.
import { exitKey, isSameJson } from '../../../../../../platform/merge-graphs.ts';
import type { Workflow } from '../../../api/types.ts';
import type { GraphTransition } from './graph.ts';
import type { DraftGraph, DraftStep } from './model.ts';

/** A graph, and what starts it where that is known. */
export interface Compared {
  graph: DraftGraph;
  trigger?: Pick<Workflow, 'triggerType' | 'triggerConfig' | 'allowReentry'> | undefined;
}

export interface ValueChange {
  /** A path such as `branches.0.weight`; `name` and `templateId` are those of the step. */
  path: string;
  before: unknown;
  after: unknown;
}

export interface ChangedStep {
  step: DraftStep;
  changes: ValueChange[];
}

/** An exit that leads elsewhere than before; an id is missing where it leads nowhere. */
export interface ChangedExit {
  exit: Pick<GraphTransition, 'fromStepId' | 'branch'>;
  before: string | undefined;
  after: string | undefined;
}

export interface GraphDiff {
  added: DraftStep[];
  removed: DraftStep[];
  changed: ChangedStep[];
  /** Of steps that both have. */
  exits: ChangedExit[];
  trigger: ValueChange[];
}

export function diffOf(before: Compared, after: Compared): GraphDiff {
  const old = new Map(before.graph.steps.map((step) => [step.id, step]));
  const now = new Map(after.graph.steps.map((step) => [step.id, step]));
  const changed = after.graph.steps.flatMap((step) => {
    const previous = old.get(step.id);
    if (!previous) return [];
    const changes = changesOf(valuesOf(previous), valuesOf(step));
    return changes.length > 0 ? [{ step, changes }] : [];
  });
  return {
    added: after.graph.steps.filter(({ id }) => !old.has(id)),
    removed: before.graph.steps.filter(({ id }) => !now.has(id)),
    changed,
    exits: exitsBetween(before.graph, after.graph).filter(
      ({ exit: { fromStepId } }) => old.has(fromStepId) && now.has(fromStepId),
    ),
    trigger:
      before.trigger && after.trigger ? changesOf(triggerValues(before.trigger), triggerValues(after.trigger)) : [],
  };
}

export const isEmptyDiff = ({ added, removed, changed, exits, trigger }: GraphDiff): boolean =>
  [added, removed, changed, exits, trigger].every((list) => list.length === 0);

const triggerValues = ({ triggerType, triggerConfig, allowReentry }: NonNullable<Compared['trigger']>): object => ({
  triggerType,
  ...triggerConfig,
  allowReentry,
});

/** A template may stand beside the config, where older graphs have it. */
const valuesOf = ({ name, config, templateId }: DraftStep): object => ({
  name,
  ...config,
  ...((config.templateId ?? templateId) && { templateId: config.templateId ?? templateId }),
});

/** Compares values key by key; lists of the same length item by item. */
export function changesOf(before: unknown, after: unknown, path = ''): ValueChange[] {
  if (isSameJson(before, after) || (isNothing(before) && isNothing(after))) return [];
  if (!isNested(before) || !isNested(after) || !hasSameShape(before, after)) return [{ path, before, after }];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) =>
    changesOf(
      (before as Record<string, unknown>)[key],
      (after as Record<string, unknown>)[key],
      path === '' ? key : `${path}.${key}`,
    ),
  );
}

const isNothing = (value: unknown): boolean => value === undefined || value === null || value === '';
const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;

function hasSameShape(before: object, after: object): boolean {
  if (Array.isArray(before) !== Array.isArray(after)) return false;
  if (!Array.isArray(before) || !Array.isArray(after)) return !isSpan(before) && !isSpan(after);
  return before.length === after.length && [...before, ...after].every(isNested);
}

/** An amount with its unit is one value. */
const isSpan = (value: object): boolean =>
  Object.keys(value).every((key) => key === 'amount' || key === 'unit') && 'unit' in value;

function exitsBetween(before: DraftGraph, after: DraftGraph): ChangedExit[] {
  const old = new Map(before.transitions.map((transition) => [exitKey(transition), transition]));
  const now = new Map(after.transitions.map((transition) => [exitKey(transition), transition]));
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) => {
    const was = old.get(key);
    const is = now.get(key);
    const exit = is ?? was;
    return !exit || was?.toStepId === is?.toStepId ? [] : [{ exit, before: was?.toStepId, after: is?.toStepId }];
  });
}
