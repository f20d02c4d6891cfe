// The shapes of a graph that is drawn.

export interface GraphStep {
  id: string;
  type: string;
  name: string;
}

export interface GraphTransition {
  fromStepId: string;
  toStepId: string;
  branch: string | null;
}

/** The exit that a transition without a branch serves. */
export const NEXT = 'next';

export const exitOf = ({ branch }: Pick<GraphTransition, 'branch'>): string => branch ?? NEXT;

/** Names a transition: an exit leads to one step at most. */
export const transitionKey = ({ fromStepId, branch }: Pick<GraphTransition, 'fromStepId' | 'branch'>): string =>
  `${fromStepId} ${branch ?? NEXT}`;
