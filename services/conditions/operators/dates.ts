import { type Fragment, sql } from '../fragment.ts';
import { before, DAY_MS, dayOf, momentOf, type Span, timestamp } from '../instants.ts';
import type { Question, Window } from '../types.ts';
import { span } from './arguments.ts';
import { type Entry, FilterViolation, type Operators, operator, type RawFilter } from './operator.ts';

export type DateField = 'createdAt' | 'updatedAt';

const columns: Record<DateField, Fragment> = { createdAt: sql`c.created_at`, updatedAt: sql`c.updated_at` };

/** The first millisecond that counts, and the first after it that no longer does. */
interface Stretch {
  from: number;
  until: number;
}

function momentAt({ value }: RawFilter): number {
  const moment = typeof value === 'string' ? momentOf(value) : undefined;
  if (moment === undefined)
    throw new FilterViolation('value', 'must be a date (YYYY-MM-DD) or an ISO 8601 date-time', 'invalid_string');
  return moment;
}

/** A bare date is its whole day. A date-time is one millisecond: that is what the API shows, the column is finer. */
function stretchAt(filter: RawFilter): Stretch {
  const from = momentAt(filter);
  return { from, until: from + (dayOf(String(filter.value)) === undefined ? 1 : DAY_MS) };
}

const isIn = (time: number, { from, until }: Stretch) => time >= from && time < until;

/** Columns are compared with the ends of whole milliseconds, so that what is finer makes no difference. */
const compared = (
  test: (column: Fragment, moment: number) => Fragment,
  holds: (time: number, moment: number) => boolean,
): Entry<DateField> =>
  operator({
    read: momentAt,
    sql: (field, moment) => test(columns[field], moment),
    decide: (field, moment, { contact }) => holds(contact[field].getTime(), moment),
  });

/** Those whose date was within the span at the beginning of the window, and is no longer at its end. */
const crossed = (field: DateField, span: Span, { from, to }: Window, { projectId }: Question): Fragment =>
  sql`select c.id from contacts c where c.project_id = ${projectId}
    and ${columns[field]} >= ${timestamp(before(from, span))} and ${columns[field]} < ${timestamp(before(to, span))}`;

export const dateOperators: Operators<DateField> = {
  equals: operator({
    read: stretchAt,
    sql: (field, { from, until }) =>
      sql`(${columns[field]} >= ${timestamp(from)} and ${columns[field]} < ${timestamp(until)})`,
    decide: (field, stretch, { contact }) => isIn(contact[field].getTime(), stretch),
  }),
  notEquals: operator({
    read: stretchAt,
    sql: (field, { from, until }) =>
      sql`(${columns[field]} < ${timestamp(from)} or ${columns[field]} >= ${timestamp(until)})`,
    decide: (field, stretch, { contact }) => !isIn(contact[field].getTime(), stretch),
  }),
  greaterThan: compared(
    (column, moment) => sql`${column} >= ${timestamp(moment + 1)}`,
    (time, moment) => time > moment,
  ),
  lessThan: compared(
    (column, moment) => sql`${column} < ${timestamp(moment)}`,
    (time, moment) => time < moment,
  ),
  greaterThanOrEqual: compared(
    (column, moment) => sql`${column} >= ${timestamp(moment)}`,
    (time, moment) => time >= moment,
  ),
  lessThanOrEqual: compared(
    (column, moment) => sql`${column} < ${timestamp(moment + 1)}`,
    (time, moment) => time <= moment,
  ),
  // Nothing was created in the future, so there is no upper end: the database's clock may be ahead of ours.
  within: operator({
    drift: crossed,
    read: span,
    sql: (field, last, { now }) => sql`${columns[field]} >= ${timestamp(before(now, last))}`,
    decide: (field, last, { contact, now }) => contact[field].getTime() >= before(now, last),
  }),
  olderThan: operator({
    drift: crossed,
    read: span,
    sql: (field, age, { now }) => sql`${columns[field]} < ${timestamp(before(now, age))}`,
    decide: (field, age, { contact, now }) => contact[field].getTime() < before(now, age),
  }),
};
