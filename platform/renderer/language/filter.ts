import type { Budget } from './budget.ts';

/** Filters never fail: what is of the wrong kind is taken for what comes nearest, or for empty. */
export interface Filter {
  /** Names of the arguments after the value itself. */
  parameters: string[];
  apply(value: unknown, args: unknown[], budget: Budget): unknown;
}

export const filter = (parameters: string[], apply: Filter['apply']): Filter => ({ parameters, apply });
