import type { Connection, Graph, Step, StepExit } from './graph.ts';

/** Ends executions that loop without end. */
export const MAX_STEPS = 10_000;
export const TOO_MANY_STEPS = `the execution has taken ${MAX_STEPS} steps: the workflow loops endlessly`;

/** Returns the steps that no transition leads to. A valid graph has one. */
export function entriesOf({ steps, transitions }: Graph): Step[] {
  const targets = new Set(transitions.map(({ toStepId }) => toStepId));
  return steps.filter(({ id }) => !targets.has(id));
}

export const findStep = ({ steps }: Graph, id: string): Step | undefined => steps.find((step) => step.id === id);

/** Returns the transition of an exit. The exits of a wait fall back to the transition without a branch. */
export function transitionFor({ transitions }: Graph, stepId: string, exit: StepExit): Connection | undefined {
  const outgoing = transitions.filter(({ fromStepId }) => fromStepId === stepId);
  const unbranched = outgoing.find(({ branch }) => branch === null);
  if (exit === 'next') return unbranched;
  const own = outgoing.find(({ branch }) => branch === exit);
  return own ?? (exit === 'event' || exit === 'timeout' ? unbranched : undefined);
}

/** The result of leaving a step. */
export type Departure =
  | { kind: 'step'; step: Step; visit: number }
  | { kind: 'completed' }
  | { kind: 'failed'; reason: string };

/** Leaves a step by an exit. `visit` is the number of the step that is left. */
export function leave(graph: Graph, from: { stepId: string; visit: number }, exit: StepExit): Departure {
  const transition = transitionFor(graph, from.stepId, exit);
  const step = transition && findStep(graph, transition.toStepId);
  if (!step) return { kind: 'completed' };
  if (from.visit >= MAX_STEPS) return { kind: 'failed', reason: TOO_MANY_STEPS };
  return { kind: 'step', step, visit: from.visit + 1 };
}
