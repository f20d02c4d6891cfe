import { joined, sql } from '../../db/sql.ts';
import { keysOf } from '../../platform/conditions/field-path.ts';
import { dataOperators } from './operators/data.ts';
import { FilterViolation, type RawFilter } from './operators/operator.ts';
import type { EventTests, Predicate } from './types.ts';

const MAX_TESTS = 5;
const MAX_KEY = 1_000;

/** Reads `where` of a filter on events of this name. Undefined without one. */
export function readEventTests(event: string, { where }: RawFilter): EventTests | undefined {
  if (where === undefined || where === null) return undefined;
  if (!Array.isArray(where)) throw new FilterViolation('where', 'must be a list', 'invalid_type');
  if (where.length > MAX_TESTS) throw new FilterViolation('where', `must have at most ${MAX_TESTS} items`, 'too_big');
  if (where.length === 0) return undefined;
  const tests = where.map((item, n) => readTest(event, item, n));
  const drifts = tests.flatMap(({ drift }) => drift ?? []);
  return {
    id: JSON.stringify(where),
    sql: (query) =>
      joined(
        tests.map((test) => sql`(${test.sql(query)})`),
        ' and ',
      ),
    evaluate: (data, subject) => tests.every((test) => test.evaluate({ ...subject, context: data })),
    drift:
      drifts.length === 0
        ? undefined
        : (window, query) =>
            joined(
              drifts.map((drift) => drift(window, query)),
              ' union ',
            ),
  };
}

function readTest(event: string, item: unknown, n: number): Predicate {
  if (typeof item !== 'object' || item === null || Array.isArray(item))
    throw new FilterViolation(`where.${n}`, 'must be an object with "key" and "operator"', 'invalid_type');
  const { key, operator, ...argument } = item as RawFilter & { key?: unknown; operator?: unknown };
  if (typeof key !== 'string' || key.length > MAX_KEY || /\0|\p{Surrogate}/u.test(key))
    throw new FilterViolation(`where.${n}.key`, 'must be a key of the data of the event', 'invalid_type');
  const keys = keysOf(key.startsWith('[') ? key : `.${key}`);
  if (!keys)
    throw new FilterViolation(`where.${n}.key`, 'must be a key, such as total or order.total', 'invalid_string');
  const known = typeof operator === 'string' && Object.hasOwn(dataOperators, operator) && dataOperators[operator];
  if (!known) {
    const message = `must be one of ${Object.keys(dataOperators).join(', ')}`;
    throw new FilterViolation(`where.${n}.operator`, message, 'invalid_enum');
  }
  try {
    return known.bind({ root: 'event', keys, event }, argument);
  } catch (error) {
    if (!(error instanceof FilterViolation)) throw error;
    throw new FilterViolation(`where.${n}.${error.part}`, error.message, error.code);
  }
}
