import type { Scalar } from './arguments.ts';
import { DAY_MS, dayOf, instantOf, parseMoment } from './moments.ts';

// What the operators of conditions decide about one value, the same for conditions and for the blocks of an email.

/** Returns undefined when any key is missing or its parent is no object. Arrays are not traversed. */
export function valueAtKeys(root: unknown, keys: readonly string[]): unknown {
  let value = root;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
      return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value ?? undefined;
}

/** A date without time matches its whole UTC day. */
export const dayAs = (value: Scalar): number | undefined => (typeof value === 'string' ? dayOf(value) : undefined);

export function isEqualValue(found: unknown, value: Scalar): boolean {
  if (found === value) return true;
  const day = dayAs(value);
  const instant = typeof found === 'string' ? instantOf(found) : undefined;
  return day !== undefined && instant !== undefined && instant >= day && instant < day + DAY_MS;
}

/** Orders text as Postgres does under collation "C"; JavaScript orders characters above U+FFFF differently. */
const compareTexts = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Compares numbers with numbers, dates with dates and text with text; undefined where they have no order. */
export function orderOf(found: unknown, value: string | number): number | undefined {
  if (typeof value === 'number') return typeof found === 'number' ? found - value : undefined;
  if (typeof found !== 'string') return undefined;
  const moment = parseMoment(value);
  if (moment === undefined) return compareTexts(found, value);
  const foundMoment = parseMoment(found);
  return foundMoment === undefined ? undefined : foundMoment - moment;
}

type Test<Argument> = (found: unknown, argument: Argument) => boolean;

const ordered =
  (accepts: (order: number) => boolean): Test<string | number> =>
  (found, value) => {
    const order = orderOf(found, value);
    return order !== undefined && accepts(order);
  };

/** `found` is the value of a field, or undefined where the field has none. */
export const valueTests = {
  equals: isEqualValue satisfies Test<Scalar>,
  notEquals: ((found, other) => found !== undefined && !isEqualValue(found, other)) satisfies Test<Scalar>,
  in: ((found, values) => values.includes(found as Scalar)) satisfies Test<Scalar[]>,
  notIn: ((found, others) => found !== undefined && !others.includes(found as Scalar)) satisfies Test<Scalar[]>,
  contains: ((found, part) => typeof found === 'string' && found.includes(part)) satisfies Test<string>,
  notContains: ((found, part) =>
    found !== undefined && !(typeof found === 'string' && found.includes(part))) satisfies Test<string>,
  startsWith: ((found, part) => typeof found === 'string' && found.startsWith(part)) satisfies Test<string>,
  endsWith: ((found, part) => typeof found === 'string' && found.endsWith(part)) satisfies Test<string>,
  greaterThan: ordered((order) => order > 0),
  lessThan: ordered((order) => order < 0),
  greaterThanOrEqual: ordered((order) => order >= 0),
  lessThanOrEqual: ordered((order) => order <= 0),
  exists: ((found) => found !== undefined) satisfies Test<undefined>,
  notExists: ((found) => found === undefined) satisfies Test<undefined>,
};
