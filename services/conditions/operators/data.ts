import { type Fragment, joined, sql } from '../fragment.ts';
import {
  before,
  DAY_MS,
  dayOf,
  instantOf,
  instantSql,
  momentOf,
  momentSql,
  type Span,
  timestamp,
} from '../instants.ts';
import type { Question, Subject, Window } from '../types.ts';
import { comparable, listOf, nothing, part, type Scalar, scalar, span } from './arguments.ts';
import {
  type DataPlace,
  document,
  hasKey,
  isPresent,
  isText,
  rootSql,
  textSql,
  valueAt,
  valueSql,
} from './data-place.ts';
import { type Entry, nobody, type Operators, operator } from './operator.ts';
import { contains, endsWith, startsWith, type TextTest } from './texts.ts';

const scalars = listOf(scalar);

const isEqual = (place: DataPlace, value: Scalar, question: Question): Fragment =>
  sql`${rootSql(place, question)} @> ${document(place, value)}::jsonb`;

/** A bare date means its whole UTC day, however the contact's value is written. */
const dayAs = (value: Scalar): number | undefined => (typeof value === 'string' ? dayOf(value) : undefined);

const isOnDay = (place: DataPlace, day: number, question: Question): Fragment => {
  const instant = instantSql(textSql(place, question));
  return sql`(${isText(place, question)} and ${instant} >= ${timestamp(day)} and ${instant} < ${timestamp(day + DAY_MS)})`;
};

function matchesSql(place: DataPlace, value: Scalar, question: Question): Fragment {
  const equal = isEqual(place, value, question);
  const day = dayAs(value);
  if (day === undefined) return equal;
  return sql`(${hasKey(place)} and (${equal} or ${isOnDay(place, day, question)}))`;
}

function matches(found: unknown, value: Scalar): boolean {
  if (found === value) return true;
  const day = dayAs(value);
  const instant = typeof found === 'string' ? instantOf(found) : undefined;
  return day !== undefined && instant !== undefined && instant >= day && instant < day + DAY_MS;
}

/** As Postgres orders text under the collation "C", which is not JavaScript's order for rare characters. */
const order = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

type Sign = '>' | '<' | '>=' | '<=';

const signs: Record<Sign, { symbol: Fragment; holds(difference: number): boolean }> = {
  '>': { symbol: sql`>`, holds: (difference) => difference > 0 },
  '<': { symbol: sql`<`, holds: (difference) => difference < 0 },
  '>=': { symbol: sql`>=`, holds: (difference) => difference >= 0 },
  '<=': { symbol: sql`<=`, holds: (difference) => difference <= 0 },
};

/** Numbers with numbers, dates with dates, text with text. */
const compared = (sign: Sign): Entry<DataPlace> => {
  const { symbol, holds } = signs[sign];
  return operator({
    read: comparable,
    sql: (place, value, question) => {
      if (typeof value === 'number') {
        const found = valueSql(place, question);
        return sql`(jsonb_typeof(${found}) = 'number' and ${found} ${symbol} ${String(value)}::jsonb)`;
      }
      const found = textSql(place, question);
      const moment = momentOf(value);
      const test =
        moment === undefined
          ? sql`${found} collate "C" ${symbol} ${value}`
          : sql`${momentSql(found)} ${symbol} ${timestamp(moment)}`;
      return sql`(${isText(place, question)} and ${test})`;
    },
    decide: (place, value, subject) => {
      const found = valueAt(place, subject);
      if (typeof value === 'number') return typeof found === 'number' && holds(found - value);
      if (typeof found !== 'string') return false;
      const [moment, foundMoment] = [momentOf(value), momentOf(found)];
      if (moment === undefined) return holds(order(found, value));
      return foundMoment !== undefined && holds(foundMoment - moment);
    },
  });
};

const finds = (test: TextTest): Entry<DataPlace> =>
  operator({
    read: part,
    sql: (place, wanted, question) =>
      sql`(${isText(place, question)} and ${textSql(place, question)} like ${test.pattern(wanted)})`,
    decide: (place, wanted, subject) => {
      const value = valueAt(place, subject);
      return typeof value === 'string' && test.holds(value, wanted);
    },
  });

const instantAt = (place: DataPlace, subject: Subject): number | undefined => {
  const value = valueAt(place, subject);
  return typeof value === 'string' ? instantOf(value) : undefined;
};

interface Stretch {
  after: number;
  until: number;
}

/** Dates that were within the span at the beginning of the window, and are no longer at its end. */
const between = ({ from, to }: Window, span: Span): Stretch => ({ after: before(from, span), until: before(to, span) });

function datedIn(place: DataPlace, question: Question, stretches: Stretch[]): Fragment {
  // The context of an execution belongs to no contact.
  if (place.root === 'context') return nobody;
  const instant = instantSql(textSql(place, question));
  const ranges = stretches.map(
    ({ after, until }) => sql`(${instant} >= ${timestamp(after)} and ${instant} < ${timestamp(until)})`,
  );
  return sql`select c.id from contacts c
    where c.project_id = ${question.projectId} and ${hasKey(place)} and ${isText(place, question)}
      and (${joined(ranges, ' or ')})`;
}

export const dataOperators: Operators<DataPlace> = {
  equals: operator({
    read: scalar,
    sql: matchesSql,
    decide: (place, wanted, subject) => matches(valueAt(place, subject), wanted),
  }),
  notEquals: operator({
    read: scalar,
    sql: (place, other, question) =>
      sql`(${isPresent(place, question)} and (${matchesSql(place, other, question)}) is not true)`,
    decide: (place, other, subject) => {
      const value = valueAt(place, subject);
      return value !== undefined && !matches(value, other);
    },
  }),
  in: operator({
    read: scalars,
    sql: (place, wanted, question) => oneOf(place, wanted, question),
    decide: (place, wanted, subject) => wanted.includes(valueAt(place, subject) as Scalar),
  }),
  notIn: operator({
    read: scalars,
    sql: (place, others, question) => sql`(${isPresent(place, question)} and not ${oneOf(place, others, question)})`,
    decide: (place, others, subject) => {
      const value = valueAt(place, subject);
      return value !== undefined && !others.includes(value as Scalar);
    },
  }),
  contains: finds(contains),
  notContains: operator({
    read: part,
    sql: (place, other, question) =>
      sql`(${isPresent(place, question)}
        and not (${isText(place, question)} and ${textSql(place, question)} like ${contains.pattern(other)}))`,
    decide: (place, other, subject) => {
      const value = valueAt(place, subject);
      return value !== undefined && !(typeof value === 'string' && value.includes(other));
    },
  }),
  startsWith: finds(startsWith),
  endsWith: finds(endsWith),
  greaterThan: compared('>'),
  lessThan: compared('<'),
  greaterThanOrEqual: compared('>='),
  lessThanOrEqual: compared('<='),
  within: operator({
    drift: (place, last, window, question) =>
      datedIn(place, question, [
        between(window, last),
        { after: window.from.getTime() + 1, until: window.to.getTime() + 1 },
      ]),
    read: span,
    sql: (place, last, question) => {
      const instant = instantSql(textSql(place, question));
      return sql`(${isText(place, question)} and ${instant} >= ${timestamp(before(question.now, last))}
        and ${instant} <= ${timestamp(question.now.getTime())})`;
    },
    decide: (place, last, subject) => {
      const instant = instantAt(place, subject);
      return instant !== undefined && instant >= before(subject.now, last) && instant <= subject.now.getTime();
    },
  }),
  olderThan: operator({
    drift: (place, age, window, question) => datedIn(place, question, [between(window, age)]),
    read: span,
    sql: (place, age, question) =>
      sql`(${isText(place, question)}
        and ${instantSql(textSql(place, question))} < ${timestamp(before(question.now, age))})`,
    decide: (place, age, subject) => {
      const instant = instantAt(place, subject);
      return instant !== undefined && instant < before(subject.now, age);
    },
  }),
  exists: operator({
    read: nothing,
    sql: (place, _, question) => sql`(${hasKey(place)} and ${isPresent(place, question)})`,
    decide: (place, _, subject) => valueAt(place, subject) !== undefined,
  }),
  notExists: operator({
    read: nothing,
    sql: (place, _, question) => sql`(${isPresent(place, question)}) is not true`,
    decide: (place, _, subject) => valueAt(place, subject) === undefined,
  }),
};

function oneOf(place: DataPlace, values: Scalar[], question: Question): Fragment {
  const documents = values.map((value) => document(place, value));
  return sql`${rootSql(place, question)} @> any (${documents}::jsonb[])`;
}
