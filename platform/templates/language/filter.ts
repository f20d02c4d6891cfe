import type { Budget } from './budget.ts';

/** Filters never fail: a value of the wrong type is converted, or treated as empty. */
export interface Filter {
  /** Names of the arguments after the input value. */
  parameters: string[];
  /** Gets the block of a `filter` tag as HTML, as it was written, and not as text that is escaped afterwards. */
  takesHtml?: boolean;
  apply(value: unknown, args: unknown[], budget: Budget): unknown;
}

export const filter = (parameters: string[], apply: Filter['apply']): Filter => ({ parameters, apply });
