import { type Fragment, sql } from '../../../db/sql.ts';
import { comingDays, monthDayOf, monthDaySql, pastDays, readDays } from '../anniversaries.ts';
import { before, DAY_MS, dayOf, parseMoment, type TimeSpan, timestamp } from '../instants.ts';
import type { ConditionQuery, Window } from '../types.ts';
import { readSpan } from './arguments.ts';
import { type BindableOperator, FilterViolation, type Operators, operator, type RawFilter } from './operator.ts';

export type DateField = 'createdAt' | 'updatedAt';

const columns: Record<DateField, Fragment> = { createdAt: sql`c.created_at`, updatedAt: sql`c.updated_at` };

/** A half-open range in milliseconds. */
interface TimeRange {
  from: number;
  until: number;
}

function momentAt({ value }: RawFilter): number {
  const moment = typeof value === 'string' ? parseMoment(value) : undefined;
  if (moment === undefined)
    throw new FilterViolation('value', 'must be a date (YYYY-MM-DD) or an ISO 8601 date-time', 'invalid_string');
  return moment;
}

/** A date is its whole day. A date-time is one millisecond, the precision of the API; the column is finer. */
function rangeAt(filter: RawFilter): TimeRange {
  const from = momentAt(filter);
  return { from, until: from + (dayOf(String(filter.value)) === undefined ? 1 : DAY_MS) };
}

const isIn = (time: number, { from, until }: TimeRange) => time >= from && time < until;

/** Compares columns with whole milliseconds, so that their microseconds make no difference. */
const comparison = (
  test: (column: Fragment, moment: number) => Fragment,
  compare: (time: number, moment: number) => boolean,
): BindableOperator<DateField> =>
  operator({
    read: momentAt,
    sql: (field, moment) => test(columns[field], moment),
    evaluate: (field, moment, { contact }) => compare(contact[field].getTime(), moment),
  });

/** Selects contacts whose date was within the span at the start of the window but not at its end. */
const crossed = (field: DateField, span: TimeSpan, { from, to }: Window, { projectId }: ConditionQuery): Fragment =>
  sql`select c.id from contacts c where c.project_id = ${projectId}
    and ${columns[field]} >= ${timestamp(before(from, span))} and ${columns[field]} < ${timestamp(before(to, span))}`;

const anniversary = (
  days: (count: number, query: Pick<ConditionQuery, 'now' | 'timeZone'>) => string[],
  isWanted: boolean,
): BindableOperator<DateField> => {
  const isIn = (field: DateField, count: number, query: ConditionQuery): Fragment => {
    const test = sql`(${monthDaySql(columns[field], query.timeZone)} = any (${days(count, query)}::text[]))`;
    return isWanted ? test : sql`(not ${test})`;
  };
  return operator({
    read: readDays,
    sql: isIn,
    evaluate: (field, count, subject) =>
      days(count, subject).includes(monthDayOf(subject.contact[field].getTime(), subject.timeZone)) === isWanted,
    drift: (field, count, { from, to }, query) =>
      sql`select c.id from contacts c where c.project_id = ${query.projectId}
        and ${isIn(field, count, { ...query, now: from })} is distinct from ${isIn(field, count, { ...query, now: to })}`,
  });
};

export const dateOperators: Operators<DateField> = {
  equals: operator({
    read: rangeAt,
    sql: (field, { from, until }) =>
      sql`(${columns[field]} >= ${timestamp(from)} and ${columns[field]} < ${timestamp(until)})`,
    evaluate: (field, range, { contact }) => isIn(contact[field].getTime(), range),
  }),
  notEquals: operator({
    read: rangeAt,
    sql: (field, { from, until }) =>
      sql`(${columns[field]} < ${timestamp(from)} or ${columns[field]} >= ${timestamp(until)})`,
    evaluate: (field, range, { contact }) => !isIn(contact[field].getTime(), range),
  }),
  greaterThan: comparison(
    (column, moment) => sql`${column} >= ${timestamp(moment + 1)}`,
    (time, moment) => time > moment,
  ),
  lessThan: comparison(
    (column, moment) => sql`${column} < ${timestamp(moment)}`,
    (time, moment) => time < moment,
  ),
  greaterThanOrEqual: comparison(
    (column, moment) => sql`${column} >= ${timestamp(moment)}`,
    (time, moment) => time >= moment,
  ),
  lessThanOrEqual: comparison(
    (column, moment) => sql`${column} < ${timestamp(moment + 1)}`,
    (time, moment) => time <= moment,
  ),
  // Has no upper bound, because the database's clock may be ahead of ours.
  within: operator({
    drift: crossed,
    read: readSpan,
    sql: (field, last, { now }) => sql`${columns[field]} >= ${timestamp(before(now, last))}`,
    evaluate: (field, last, { contact, now }) => contact[field].getTime() >= before(now, last),
  }),
  anniversaryWithin: anniversary(comingDays, true),
  anniversaryOlderThan: anniversary(pastDays, false),
  olderThan: operator({
    drift: crossed,
    read: readSpan,
    sql: (field, age, { now }) => sql`${columns[field]} < ${timestamp(before(now, age))}`,
    evaluate: (field, age, { contact, now }) => contact[field].getTime() < before(now, age),
  }),
};
