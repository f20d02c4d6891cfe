import type { Budget } from './budget.ts';
import { type Filter, filter } from './filter.ts';
import { Callable, isPlainObject, isText, isTrue, lookUp, numberOf, plain, textOf } from './values.ts';

/** The widest indentation of JSON.stringify. */
const MAX_INDENT = 10;
const MAX_DEPTH = 50;

/** Filters for numbers and for values of any type. */
export const valueFilters: Record<string, Filter> = {
  abs: filter([], (value, _, budget) => Math.abs(numberOf(value, budget))),
  default: filter(['default_value', 'boolean'], withDefault),
  d: filter(['default_value', 'boolean'], withDefault),
  dump: filter(['spaces'], (value, [spaces], budget) => dump(value, spaces, budget)),
  float: filter(['default'], (value, [otherwise], budget) => {
    const number = Number.parseFloat(budget.text(textOf(value, budget)));
    return Number.isNaN(number) ? otherwise : number;
  }),
  int: filter(['default', 'base'], (value, [otherwise, base], budget) => {
    const number = Number.parseInt(
      budget.text(textOf(value, budget)),
      base === undefined ? 10 : numberOf(base, budget),
    );
    return Number.isNaN(number) ? otherwise : number;
  }),
  length: filter([], (value, _, budget) => {
    if (isPlainObject(value)) {
      const count = Object.keys(value).length;
      budget.spend(count);
      return count;
    }
    return lookUp(value, 'length') ?? 0;
  }),
  round: filter(['precision', 'method'], (value, [precision, method], budget) => {
    const factor = 10 ** (precision === undefined ? 0 : numberOf(precision, budget));
    const rounding = method === 'ceil' ? Math.ceil : method === 'floor' ? Math.floor : Math.round;
    return rounding(numberOf(value, budget) * factor) / factor;
  }),
  string: filter([], (value, _, budget) => (isText(value) ? value : textOf(value, budget))),
};

function withDefault(value: unknown, [otherwise, alsoFalsy]: unknown[]): unknown {
  if (isTrue(alsoFalsy)) return isTrue(value) ? value : otherwise;
  return value === undefined ? otherwise : value;
}

function dump(value: unknown, spaces: unknown, budget: Budget): string {
  const indent = typeof spaces === 'number' || typeof spaces === 'string' ? spaces : undefined;
  return budget.text(JSON.stringify(jsonCopy(value, 0, budget), null, indent) ?? '');
}

/** Copies a value for JSON.stringify and pays for every item, because a list may contain the same value many times. */
function jsonCopy(value: unknown, depth: number, budget: Budget): unknown {
  const given = plain(value);
  budget.make(typeof given === 'string' ? given.length : depth * MAX_INDENT + 32);
  if (depth === MAX_DEPTH) return undefined;
  if (Array.isArray(given)) return given.map((item) => jsonCopy(item, depth + 1, budget));
  if (!isPlainObject(given)) return given instanceof Callable ? undefined : given;
  return Object.fromEntries(Object.entries(given).map(([key, item]) => [key, jsonCopy(item, depth + 1, budget)]));
}
