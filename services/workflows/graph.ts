import { type Violation, validationError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { exitKey, isSameJson } from '../../platform/merge-graphs.ts';
import type { Data } from '../contacts/data.ts';
import { readConfigShape } from './step-config.ts';
import { stepTypeOf } from './steps/index.ts';
import type { Branch, Step } from './steps/step-type.ts';

export { exitsOf, type StepTypeName, stepTypeNames } from './steps/index.ts';
export { type Branch, branches, branchOf, MAX_BRANCH_LENGTH, type Step, type StepExit } from './steps/step-type.ts';

export interface Connection {
  fromStepId: string;
  toStepId: string;
  branch: Branch | null;
}

/** What executions and simulations walk through. */
export interface Graph {
  steps: Step[];
  transitions: Connection[];
}

export interface DraftStep extends Step {
  position: { x: number; y: number };
}

/** A graph that is edited as a whole. It may be incomplete. */
export interface DraftGraph extends Graph {
  steps: DraftStep[];
}

/** Times are ISO 8601. */
export interface StoredStep extends DraftStep {
  createdAt: string;
  updatedAt: string;
}

export interface Transition extends Connection {
  id: string;
}

/** The graph of a version: shared by the executions that run it. */
export interface StoredGraph extends DraftGraph {
  steps: StoredStep[];
  transitions: Transition[];
}

export const EMPTY_GRAPH: StoredGraph = { steps: [], transitions: [] };

/** A graph as a client sends it. */
export interface GivenGraph {
  steps: {
    id: string;
    type: string;
    name?: string | undefined;
    position?: { x: number; y: number } | undefined;
    config?: Data | undefined;
    templateId?: string | null | undefined;
  }[];
  transitions: { fromStepId: string; toStepId: string; branch: Branch | null }[];
}

/** Reads a graph. A wrong shape is a 422: of a config, of ids that are used twice, of transitions without their steps. */
export function readDraftGraph({ steps: given, transitions }: GivenGraph): DraftGraph {
  const errors: Violation[] = [];
  const ids = new Set<string>();
  const steps = given.map(({ id: givenId, type, name, position, config, templateId }, n) => {
    const id = givenId.toLowerCase();
    if (ids.has(id)) errors.push(customError(`graph.steps.${n}.id`, 'is used by another step'));
    ids.add(id);
    return {
      id,
      type,
      name: name ?? stepTypeOf({ type }).label,
      position: position ?? { x: 0, y: 0 },
      config: readConfigShape(type, config ?? {}, `graph.steps.${n}.config`),
      templateId: templateId ?? null,
    };
  });
  const read = transitions.map(({ fromStepId, toStepId, branch }) => ({
    fromStepId: fromStepId.toLowerCase(),
    toStepId: toStepId.toLowerCase(),
    branch,
  }));
  for (const [n, transition] of read.entries())
    for (const end of ['fromStepId', 'toStepId'] as const)
      if (!ids.has(transition[end]))
        errors.push(customError(`graph.transitions.${n}.${end}`, 'is not the ID of a step in the graph'));
  if (errors.length > 0) throw validationError(errors);
  return { steps, transitions: read };
}

const customError = (field: string, rule: string): Violation => ({
  field,
  message: `"${field}" ${rule}`,
  code: 'custom',
});

/** Returns what can be edited, without times and the ids of transitions. */
export const graphContentOf = ({ steps, transitions }: DraftGraph): DraftGraph => ({
  steps: steps.map(stepContentOf),
  transitions: transitions.map(({ fromStepId, toStepId, branch }) => ({ fromStepId, toStepId, branch })),
});

export const stepContentOf = ({ id, type, name, config, templateId, position }: DraftStep): DraftStep => ({
  id,
  type,
  name,
  config,
  templateId,
  position,
});

/** Returns a graph as the successor of another one: steps and transitions that stay keep their times and ids. */
export function successorOf(before: StoredGraph, { steps, transitions }: DraftGraph): StoredGraph {
  const now = new Date().toISOString();
  const transitionIds = new Map(before.transitions.map((one) => [connectionKey(one), one.id]));
  return {
    steps: steps.map((step) => {
      const known = before.steps.find(({ id }) => id === step.id);
      const content = stepContentOf(step);
      const isSame = known && isSameJson(stepContentOf(known), content);
      return { ...content, createdAt: known?.createdAt ?? now, updatedAt: isSame ? known.updatedAt : now };
    }),
    transitions: transitions.map((one) => ({ ...one, id: transitionIds.get(connectionKey(one)) ?? newId() })),
  };
}

const connectionKey = (connection: Connection): string => `${exitKey(connection)} ${connection.toStepId}`;

/** Whether two graphs are the same, in whatever order. */
export const isSameGraph = (a: DraftGraph, b: DraftGraph): boolean => isSameJson(sorted(a), sorted(b));

const sorted = ({ steps, transitions }: DraftGraph): DraftGraph => ({
  steps: steps.toSorted((a, b) => a.id.localeCompare(b.id)),
  transitions: transitions.toSorted((a, b) => exitKey(a).localeCompare(exitKey(b))),
});
