// The shapes of a graph that is drawn.

export interface GraphStep {
  id: string;
  type: string;
  name: string;
  /** By which the drawing says what the step does. */
  config?: Record<string, unknown> | undefined;
  templateId?: string | null | undefined;
}

export interface GraphTransition {
  fromStepId: string;
  toStepId: string;
  branch: string | null;
}

/** Where a step is added: at an exit, which may lead somewhere already. Null is the start of the workflow. */
export type Place = Pick<GraphTransition, 'fromStepId' | 'branch'> | null;

/** The id of the node above the first step, which says what starts the workflow. */
export const START = 'start';

/** The exit that a transition without a branch serves. */
export const NEXT = 'next';

export const exitOf = ({ branch }: Pick<GraphTransition, 'branch'>): string => branch ?? NEXT;

/** A UUID for a new step. `crypto.randomUUID` is missing on pages without HTTPS. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
