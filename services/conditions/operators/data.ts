import { type Fragment, joined, sql } from '../../../db/sql.ts';
import { dayAs, valueAtKeys, valueTests } from '../../../platform/conditions/value-tests.ts';
import { comingDays, monthDayOfText, monthDayOfTextSql, pastDays, readDays } from '../anniversaries.ts';
import {
  before,
  DAY_MS,
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

/** A value inside a contact's data, inside the context of an execution, or inside the data of an event (alias `e`). */
interface DataPath {
  root: 'data' | 'context' | 'event';
  /** At least one. */
  keys: string[];
  /** The name of the event. */
  event?: string;
}

const valueAt = ({ root, keys }: DataPath, { contact, context }: Subject): unknown =>
  valueAtKeys(root === 'data' ? contact.data : context, keys);

const roots = {
  data: () => sql`c.data`,
  event: () => sql`e.data`,
  context: ({ context }: ConditionQuery) => sql`${JSON.stringify(context)}::jsonb`,
};

const rootSql = ({ root }: DataPath, query: ConditionQuery): Fragment => roots[root](query);

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

const signs = {
  greaterThan: sql`>`,
  lessThan: sql`<`,
  greaterThanOrEqual: sql`>=`,
  lessThanOrEqual: sql`<=`,
};

/** Compares numbers with numbers, dates with dates and text with text. */
const comparison = (name: keyof typeof signs): BindableOperator<DataPath> => {
  const sign = signs[name];
  return operator({
    read: readComparable,
    sql: (path, value, query) => {
      if (typeof value === 'number') {
        const found = valueSql(path, query);
        return sql`(jsonb_typeof(${found}) = 'number' and ${found} ${sign} ${String(value)}::jsonb)`;
      }
      const found = textSql(path, query);
      const moment = parseMoment(value);
      const test =
        moment === undefined
          ? sql`${found} collate "C" ${sign} ${value}`
          : sql`${momentSql(found)} ${sign} ${timestamp(moment)}`;
      return sql`(${isTextSql(path, query)} and ${test})`;
    },
    evaluate: (path, value, subject) => valueTests[name](valueAt(path, subject), value),
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
  return contactsWhereChanged(path, query, sql`${isTextSql(path, query)} and (${joined(ranges, ' or ')})`);
}

/** Selects contacts by their data, or by that of their events. */
const contactsWhereChanged = (path: DataPath, { projectId }: ConditionQuery, changed: Fragment): Fragment =>
  path.root === 'event'
    ? sql`select e.contact_id from events e where e.project_id = ${projectId} and e.name = ${path.event} and ${changed}`
    : sql`select c.id from contacts c where c.project_id = ${projectId} and ${hasKey(path)} and ${changed}`;

/** On the days of `days`, or on no day of it. */
const anniversary = (
  days: (count: number, query: Pick<ConditionQuery, 'now' | 'timeZone'>) => string[],
  isWanted: boolean,
): BindableOperator<DataPath> => {
  const isIn = (path: DataPath, count: number, query: ConditionQuery): Fragment => {
    const day = monthDayOfTextSql(textSql(path, query), query.timeZone);
    const test = sql`(${day}) = any (${days(count, query)}::text[])`;
    return sql`(${isTextSql(path, query)} and ${isWanted ? test : sql`not ${test}`})`;
  };
  return operator({
    read: readDays,
    sql: isIn,
    evaluate: (path, count, subject) => {
      const value = valueAt(path, subject);
      const day = typeof value === 'string' ? monthDayOfText(value, subject.timeZone) : undefined;
      return day !== undefined && days(count, subject).includes(day) === isWanted;
    },
    // Those for whom the answer differs between the two ends.
    drift: (path, count, { from, to }, query) => {
      if (path.root === 'context') return noContacts;
      const at = (now: Date) => isIn(path, count, { ...query, now });
      return contactsWhereChanged(path, query, sql`(${at(from)}) is distinct from (${at(to)})`);
    },
  });
};

export const dataOperators: Operators<DataPath> = {
  equals: operator({
    read: readScalar,
    sql: matchesSql,
    evaluate: (path, wanted, subject) => valueTests.equals(valueAt(path, subject), wanted),
  }),
  notEquals: operator({
    read: readScalar,
    sql: (path, other, query) => sql`(${isPresent(path, query)} and (${matchesSql(path, other, query)}) is not true)`,
    evaluate: (path, other, subject) => valueTests.notEquals(valueAt(path, subject), other),
  }),
  in: operator({
    read: scalars,
    sql: (path, wanted, query) => oneOf(path, wanted, query),
    evaluate: (path, wanted, subject) => valueTests.in(valueAt(path, subject), wanted),
  }),
  notIn: operator({
    read: scalars,
    sql: (path, others, query) => sql`(${isPresent(path, query)} and not ${oneOf(path, others, query)})`,
    evaluate: (path, others, subject) => valueTests.notIn(valueAt(path, subject), others),
  }),
  contains: textOperator(containsText),
  notContains: operator({
    read: readPart,
    sql: (path, other, query) =>
      sql`(${isPresent(path, query)}
        and not (${isTextSql(path, query)} and ${textSql(path, query)} like ${containsText.pattern(other)}))`,
    evaluate: (path, other, subject) => valueTests.notContains(valueAt(path, subject), other),
  }),
  startsWith: textOperator(startsWithText),
  endsWith: textOperator(endsWithText),
  greaterThan: comparison('greaterThan'),
  lessThan: comparison('lessThan'),
  greaterThanOrEqual: comparison('greaterThanOrEqual'),
  lessThanOrEqual: comparison('lessThanOrEqual'),
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
  anniversaryWithin: anniversary(comingDays, true),
  anniversaryOlderThan: anniversary(pastDays, false),
  exists: operator({
    read: readNothing,
    sql: (path, _, query) => sql`(${hasKey(path)} and ${isPresent(path, query)})`,
    evaluate: (path, _, subject) => valueTests.exists(valueAt(path, subject)),
  }),
  notExists: operator({
    read: readNothing,
    sql: (path, _, query) => sql`(${isPresent(path, query)}) is not true`,
    evaluate: (path, _, subject) => valueTests.notExists(valueAt(path, subject)),
  }),
};

function oneOf(path: DataPath, values: Scalar[], query: ConditionQuery): Fragment {
  const documents = values.map((value) => document(path, value));
  return sql`${rootSql(path, query)} @> any (${documents}::jsonb[])`;
}
