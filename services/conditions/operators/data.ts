import { type Fragment, joined, sql } from '../fragment.ts';
import {
  before,
  DAY_MS,
  dayOf,
  instantOf,
  instantSql,
  momentSql,
  parseMoment,
  type TimeSpan,
  timestamp,
} from '../instants.ts';
import type { ConditionQuery, Subject, Window } from '../types.ts';
import { readComparable, readListOf, readNothing, readPart, readScalar, readSpan, type Scalar } from './arguments.ts';
import { type BindableOperator, noContacts, type Operators, operator } from './operator.ts';
import { containsText, endsWithText, startsWithText, type TextTest } from './texts.ts';

/** A value inside a contact's data, or inside the context of an execution. */
interface DataPath {
  root: 'data' | 'context';
  /** At least one. */
  keys: string[];
}

/** Returns undefined when any key is missing or its parent is no object. Arrays are not traversed. */
export function valueAt({ root, keys }: DataPath, { contact, context }: Subject): unknown {
  let value: unknown = root === 'data' ? contact.data : context;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
      return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value ?? undefined;
}

const rootSql = ({ root }: DataPath, { context }: ConditionQuery): Fragment =>
  root === 'data' ? sql`c.data` : sql`${JSON.stringify(context)}::jsonb`;

/** Chains `->` because `#>` would treat a numeric key as an array index. */
const valueSql = (path: DataPath, query: ConditionQuery): Fragment =>
  sql`(${joined([rootSql(path, query), ...path.keys.map((key) => sql`${key}::text`)], ' -> ')})`;

const textSql = (path: DataPath, query: ConditionQuery): Fragment => sql`(${valueSql(path, query)} #>> '{}')`;

const isTextSql = (path: DataPath, query: ConditionQuery): Fragment =>
  sql`jsonb_typeof(${valueSql(path, query)}) = 'string'`;

const isPresent = (path: DataPath, query: ConditionQuery): Fragment =>
  sql`jsonb_typeof(${valueSql(path, query)}) <> 'null'`;

/** Redundant, but lets the planner use the index on keys. */
const hasKey = (path: DataPath): Fragment =>
  path.root === 'data' ? sql`data_keys(c.data) @> array[${path.keys[0]}::text]` : sql`true`;

/** The JSON document with the value at its path, for containment (`@>`) with the GIN index on data. */
export const document = ({ keys }: DataPath, value: Scalar): string =>
  JSON.stringify(keys.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value));

const scalars = readListOf(readScalar);

const isEqual = (path: DataPath, value: Scalar, query: ConditionQuery): Fragment =>
  sql`${rootSql(path, query)} @> ${document(path, value)}::jsonb`;

/** A date without time matches its whole UTC day. */
const dayAs = (value: Scalar): number | undefined => (typeof value === 'string' ? dayOf(value) : undefined);

const isOnDay = (path: DataPath, day: number, query: ConditionQuery): Fragment => {
  const instant = instantSql(textSql(path, query));
  return sql`(${isTextSql(path, query)} and ${instant} >= ${timestamp(day)} and ${instant} < ${timestamp(day + DAY_MS)})`;
};

function matchesSql(path: DataPath, value: Scalar, query: ConditionQuery): Fragment {
  const equal = isEqual(path, value, query);
  const day = dayAs(value);
  if (day === undefined) return equal;
  return sql`(${hasKey(path)} and (${equal} or ${isOnDay(path, day, query)}))`;
}

function isEqualValue(found: unknown, value: Scalar): boolean {
  if (found === value) return true;
  const day = dayAs(value);
  const instant = typeof found === 'string' ? instantOf(found) : undefined;
  return day !== undefined && instant !== undefined && instant >= day && instant < day + DAY_MS;
}

/** Orders text as Postgres does under collation "C"; JavaScript orders characters above U+FFFF differently. */
const compareText = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

type Sign = '>' | '<' | '>=' | '<=';

const signs: Record<Sign, { symbol: Fragment; accepts(difference: number): boolean }> = {
  '>': { symbol: sql`>`, accepts: (difference) => difference > 0 },
  '<': { symbol: sql`<`, accepts: (difference) => difference < 0 },
  '>=': { symbol: sql`>=`, accepts: (difference) => difference >= 0 },
  '<=': { symbol: sql`<=`, accepts: (difference) => difference <= 0 },
};

/** Compares numbers with numbers, dates with dates and text with text. */
const comparison = (sign: Sign): BindableOperator<DataPath> => {
  const { symbol, accepts } = signs[sign];
  return operator({
    read: readComparable,
    sql: (path, value, query) => {
      if (typeof value === 'number') {
        const found = valueSql(path, query);
        return sql`(jsonb_typeof(${found}) = 'number' and ${found} ${symbol} ${String(value)}::jsonb)`;
      }
      const found = textSql(path, query);
      const moment = parseMoment(value);
      const test =
        moment === undefined
          ? sql`${found} collate "C" ${symbol} ${value}`
          : sql`${momentSql(found)} ${symbol} ${timestamp(moment)}`;
      return sql`(${isTextSql(path, query)} and ${test})`;
    },
    evaluate: (path, value, subject) => {
      const found = valueAt(path, subject);
      if (typeof value === 'number') return typeof found === 'number' && accepts(found - value);
      if (typeof found !== 'string') return false;
      const moment = parseMoment(value);
      const foundMoment = parseMoment(found);
      if (moment === undefined) return accepts(compareText(found, value));
      return foundMoment !== undefined && accepts(foundMoment - moment);
    },
  });
};

const textOperator = (test: TextTest): BindableOperator<DataPath> =>
  operator({
    read: readPart,
    sql: (path, wanted, query) =>
      sql`(${isTextSql(path, query)} and ${textSql(path, query)} like ${test.pattern(wanted)})`,
    evaluate: (path, wanted, subject) => {
      const value = valueAt(path, subject);
      return typeof value === 'string' && test.matches(value, wanted);
    },
  });

const instantAt = (path: DataPath, subject: Subject): number | undefined => {
  const value = valueAt(path, subject);
  return typeof value === 'string' ? instantOf(value) : undefined;
};

interface TimeRange {
  after: number;
  until: number;
}

/** The dates that were within the span at the start of the window but not at its end. */
const crossedRange = ({ from, to }: Window, span: TimeSpan): TimeRange => ({
  after: before(from, span),
  until: before(to, span),
});

function contactsDatedIn(path: DataPath, query: ConditionQuery, timeRanges: TimeRange[]): Fragment {
  // The context of an execution belongs to no contact.
  if (path.root === 'context') return noContacts;
  const instant = instantSql(textSql(path, query));
  const ranges = timeRanges.map(
    ({ after, until }) => sql`(${instant} >= ${timestamp(after)} and ${instant} < ${timestamp(until)})`,
  );
  return sql`select c.id from contacts c
    where c.project_id = ${query.projectId} and ${hasKey(path)} and ${isTextSql(path, query)}
      and (${joined(ranges, ' or ')})`;
}

export const dataOperators: Operators<DataPath> = {
  equals: operator({
    read: readScalar,
    sql: matchesSql,
    evaluate: (path, wanted, subject) => isEqualValue(valueAt(path, subject), wanted),
  }),
  notEquals: operator({
    read: readScalar,
    sql: (path, other, query) => sql`(${isPresent(path, query)} and (${matchesSql(path, other, query)}) is not true)`,
    evaluate: (path, other, subject) => {
      const value = valueAt(path, subject);
      return value !== undefined && !isEqualValue(value, other);
    },
  }),
  in: operator({
    read: scalars,
    sql: (path, wanted, query) => oneOf(path, wanted, query),
    evaluate: (path, wanted, subject) => wanted.includes(valueAt(path, subject) as Scalar),
  }),
  notIn: operator({
    read: scalars,
    sql: (path, others, query) => sql`(${isPresent(path, query)} and not ${oneOf(path, others, query)})`,
    evaluate: (path, others, subject) => {
      const value = valueAt(path, subject);
      return value !== undefined && !others.includes(value as Scalar);
    },
  }),
  contains: textOperator(containsText),
  notContains: operator({
    read: readPart,
    sql: (path, other, query) =>
      sql`(${isPresent(path, query)}
        and not (${isTextSql(path, query)} and ${textSql(path, query)} like ${containsText.pattern(other)}))`,
    evaluate: (path, other, subject) => {
      const value = valueAt(path, subject);
      return value !== undefined && !(typeof value === 'string' && value.includes(other));
    },
  }),
  startsWith: textOperator(startsWithText),
  endsWith: textOperator(endsWithText),
  greaterThan: comparison('>'),
  lessThan: comparison('<'),
  greaterThanOrEqual: comparison('>='),
  lessThanOrEqual: comparison('<='),
  within: operator({
    drift: (path, last, window, query) =>
      contactsDatedIn(path, query, [
        crossedRange(window, last),
        { after: window.from.getTime() + 1, until: window.to.getTime() + 1 },
      ]),
    read: readSpan,
    sql: (path, last, query) => {
      const instant = instantSql(textSql(path, query));
      return sql`(${isTextSql(path, query)} and ${instant} >= ${timestamp(before(query.now, last))}
        and ${instant} <= ${timestamp(query.now.getTime())})`;
    },
    evaluate: (path, last, subject) => {
      const instant = instantAt(path, subject);
      return instant !== undefined && instant >= before(subject.now, last) && instant <= subject.now.getTime();
    },
  }),
  olderThan: operator({
    drift: (path, age, window, query) => contactsDatedIn(path, query, [crossedRange(window, age)]),
    read: readSpan,
    sql: (path, age, query) =>
      sql`(${isTextSql(path, query)}
        and ${instantSql(textSql(path, query))} < ${timestamp(before(query.now, age))})`,
    evaluate: (path, age, subject) => {
      const instant = instantAt(path, subject);
      return instant !== undefined && instant < before(subject.now, age);
    },
  }),
  exists: operator({
    read: readNothing,
    sql: (path, _, query) => sql`(${hasKey(path)} and ${isPresent(path, query)})`,
    evaluate: (path, _, subject) => valueAt(path, subject) !== undefined,
  }),
  notExists: operator({
    read: readNothing,
    sql: (path, _, query) => sql`(${isPresent(path, query)}) is not true`,
    evaluate: (path, _, subject) => valueAt(path, subject) === undefined,
  }),
};

function oneOf(path: DataPath, values: Scalar[], query: ConditionQuery): Fragment {
  const documents = values.map((value) => document(path, value));
  return sql`${rootSql(path, query)} @> any (${documents}::jsonb[])`;
}
