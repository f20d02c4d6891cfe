import type { Budget } from './budget.ts';

/** Filters never fail: a value of the wrong type is converted, or treated as empty. */
export interface Filter {
  /** Names of the arguments after the input value. */
  parameters: string[];
  apply(value: unknown, args: unknown[], budget: Budget): unknown;
}

export const filter = (parameters: string[], apply: Filter['apply']): Filter => ({ parameters, apply });
