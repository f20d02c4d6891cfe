import type { Budget } from './budget.ts';
import { numberOf } from './values.ts';

/** `range(stop)`, `range(start, stop)`, `range(start, stop, step)`. */
export function range(args: unknown[], budget: Budget): number[] {
  const [first = 0, second, third] = args.map((arg) => (arg === undefined ? undefined : numberOf(arg, budget)));
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  const step = third || 1;
  const count = Math.max(0, Math.ceil((stop - start) / step)) || 0;
  budget.spend(count);
  return Array.from({ length: count }, (_, index) => start + index * step);
}
