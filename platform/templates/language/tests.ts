import type { Budget } from './budget.ts';
import { Callable, compare, isPlainObject, isText, isTrue, numberOf, plain, SafeText, textOf } from './values.ts';

export type Test = (value: unknown, argument: unknown, budget: Budget) => boolean;

const comparison =
  (operator: string): Test =>
  (a, b, budget) =>
    compare(operator, a, b, budget);

const remainder = (a: unknown, b: number, budget: Budget): number => numberOf(a, budget) % b;

/** The tests of nunjucks (`value is even`). */
export const tests = new Map<string, Test>(
  Object.entries({
    callable: (value) => value instanceof Callable,
    defined: (value) => value !== undefined,
    undefined: (value) => value === undefined,
    null: (value) => value === null,
    divisibleby: (value, by, budget) => remainder(value, numberOf(by, budget), budget) === 0,
    even: (value, _, budget) => remainder(value, 2, budget) === 0,
    odd: (value, _, budget) => remainder(value, 2, budget) === 1,
    escaped: (value) => value instanceof SafeText,
    eq: comparison('==='),
    equalto: comparison('==='),
    sameas: comparison('==='),
    ne: comparison('!=='),
    ge: comparison('>='),
    gt: comparison('>'),
    greaterthan: comparison('>'),
    le: comparison('<='),
    lt: comparison('<'),
    lessthan: comparison('<'),
    truthy: (value) => isTrue(value),
    falsy: (value) => !isTrue(value),
    lower: (value, _, budget) => isText(value) && budget.text(textOf(value, budget)).toLowerCase() === plain(value),
    upper: (value, _, budget) => isText(value) && budget.text(textOf(value, budget)).toUpperCase() === plain(value),
    number: (value) => typeof value === 'number',
    string: (value) => typeof value === 'string',
    iterable: (value) => Array.isArray(value) || isText(value),
    mapping: (value) => isPlainObject(value),
  } satisfies Record<string, Test>),
);
