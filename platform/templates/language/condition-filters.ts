import { valueAtKeys, valueTests } from '../../conditions/value-tests.ts';
import type { Budget } from './budget.ts';
import { type Filter, filter } from './filter.ts';
import { plain, textOf } from './values.ts';

type ValueTest = (found: unknown, argument: unknown) => boolean;

const isOperator = (name: string): name is keyof typeof valueTests => Object.hasOwn(valueTests, name);

/** The conditions of emails made in the editor: `data | field("plan") | matches("equals", "pro")`. */
export const conditionFilters: Record<string, Filter> = {
  field: filter([], (value, keys, budget) =>
    valueAtKeys(
      value,
      keys.map((key) => textOf(key, budget)),
    ),
  ),
  matches: filter(['operator', 'argument'], (value, [operator, argument], budget) => {
    const name = textOf(operator, budget);
    const found = plain(value) ?? undefined;
    payForComparison(found, argument, budget);
    // A template may give any argument; one of the wrong type matches nothing.
    return isOperator(name) && isArgument(name, plain(argument)) && (valueTests[name] as ValueTest)(found, argument);
  }),
};

function payForComparison(found: unknown, argument: unknown, budget: Budget): void {
  const length = typeof found === 'string' ? found.length : 1;
  const wanted = plain(argument);
  if (Array.isArray(wanted)) budget.search(wanted.length, 1);
  budget.search(length, typeof wanted === 'string' ? wanted.length : 1);
}

function isArgument(operator: keyof typeof valueTests, argument: unknown): boolean {
  if (operator === 'exists' || operator === 'notExists') return true;
  if (operator === 'in' || operator === 'notIn') return Array.isArray(argument);
  if (operator === 'equals' || operator === 'notEquals') return true;
  return typeof argument === 'string' || (typeof argument === 'number' && !/contain|With/i.test(operator));
}
