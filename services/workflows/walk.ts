import type { Exit, Graph, Step, Transition } from './graph.ts';

/** An execution that has taken this many steps has lost its way. */
export const MAX_STEPS = 10_000;
export const TOO_MANY_STEPS = `the execution has taken ${MAX_STEPS} steps: the workflow goes round in circles`;

/** The steps that no transition leads to; a graph that can be run has one. */
export function entriesOf({ steps, transitions }: Graph): Step[] {
  const targets = new Set(transitions.map(({ toStepId }) => toStepId));
  return steps.filter(({ id }) => !targets.has(id));
}

export const findStep = ({ steps }: Graph, id: string): Step | undefined => steps.find((step) => step.id === id);

/** Which transition an exit takes: its own; and on a wait, else, the one without a branch, which serves both. */
export function transitionFor({ transitions }: Graph, stepId: string, exit: Exit): Transition | undefined {
  const from = transitions.filter(({ fromStepId }) => fromStepId === stepId);
  const plain = from.find(({ branch }) => branch === null);
  if (exit === 'next') return plain;
  const own = from.find(({ branch }) => branch === exit);
  return own ?? (exit === 'event' || exit === 'timeout' ? plain : undefined);
}

/** Where an execution stands after leaving a step. */
export type Place =
  | { kind: 'step'; step: Step; visit: number }
  /** The way has ended, or been too long. */
  | { kind: 'completed' }
  | { kind: 'failed'; reason: string };

/** `visit` is the how manieth step of the way the one left was. */
export function leave(graph: Graph, from: { stepId: string; visit: number }, exit: Exit): Place {
  const transition = transitionFor(graph, from.stepId, exit);
  const step = transition && findStep(graph, transition.toStepId);
  if (!step) return { kind: 'completed' };
  if (from.visit >= MAX_STEPS) return { kind: 'failed', reason: TOO_MANY_STEPS };
  return { kind: 'step', step, visit: from.visit + 1 };
}
