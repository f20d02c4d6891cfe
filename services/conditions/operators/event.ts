import { type Fragment, sql } from '../fragment.ts';
import { before, type TimeSpan, timestamp } from '../instants.ts';
import type { ConditionQuery, Subject, Window } from '../types.ts';
import { readCount, readSpan } from './arguments.ts';
import { type BindableOperator, type Operator, type Operators, operator, type RawFilter } from './operator.ts';

/** The recorded name of an event. */
export type EventName = string;

interface Times {
  atLeast: number;
}

interface TimesInSpan extends Times {
  span: TimeSpan;
}

const times = (filter: RawFilter): Times => ({ atLeast: readCount(filter) });
const timesInSpan = (filter: RawFilter): TimesInSpan => ({ atLeast: readCount(filter), span: readSpan(filter) });

/** Which events of that name count. */
interface Period<Argument extends Times> {
  read(filter: RawFilter): Argument;
  sql(argument: Argument, query: ConditionQuery): Fragment;
  includes(createdAt: Date, argument: Argument, subject: Subject): boolean;
  drift: Operator<EventName, Argument>['drift'];
  needsOldest: boolean;
}

const ever: Period<Times> = {
  read: times,
  sql: () => sql``,
  includes: () => true,
  drift: undefined,
  needsOldest: false,
};

/** Selects contacts with an event that was within the span at the start of the window but not at its end. */
const crossed = (
  name: EventName,
  { span }: TimesInSpan,
  { from, to }: Window,
  { projectId }: ConditionQuery,
): Fragment =>
  sql`select e.contact_id from events e where e.project_id = ${projectId} and e.name = ${name}
    and e.created_at >= ${timestamp(before(from, span))} and e.created_at < ${timestamp(before(to, span))}`;

const withinSpan: Period<TimesInSpan> = {
  read: timesInSpan,
  sql: ({ span }, { now }) => sql`and e.created_at >= ${timestamp(before(now, span))}`,
  includes: (createdAt, { span }, { now }) => createdAt.getTime() >= before(now, span),
  drift: crossed,
  needsOldest: false,
};

const beforeSpan: Period<TimesInSpan> = {
  read: timesInSpan,
  sql: ({ span }, { now }) => sql`and e.created_at < ${timestamp(before(now, span))}`,
  includes: (createdAt, { span }, { now }) => createdAt.getTime() < before(now, span),
  drift: crossed,
  needsOldest: true,
};

function happenedSql<A extends Times>(
  name: EventName,
  period: Period<A>,
  argument: A,
  query: ConditionQuery,
): Fragment {
  const matchingEvents = sql`from events e
    where e.project_id = ${query.projectId} and e.contact_id = c.id and e.name = ${name} ${period.sql(argument, query)}`;
  // The planner can turn EXISTS into a join. Counting runs per contact, so LIMIT stops it as early as possible.
  if (argument.atLeast === 1) return sql`exists (select 1 ${matchingEvents})`;
  return sql`(select count(*) from (select 1 ${matchingEvents} limit ${argument.atLeast}) times) >= ${argument.atLeast}`;
}

function happened<A extends Times>(name: EventName, period: Period<A>, argument: A, subject: Subject): boolean {
  const matchingEvents = subject.events.filter(
    (event) => event.name === name && period.includes(event.createdAt, argument, subject),
  );
  return matchingEvents.length >= argument.atLeast;
}

const triggered = <A extends Times>(period: Period<A>): BindableOperator<EventName> =>
  operator({
    drift: period.drift,
    needsOldest: period.needsOldest,
    read: period.read,
    sql: (name, argument, query) => happenedSql(name, period, argument, query),
    evaluate: (name, argument, subject) => happened(name, period, argument, subject),
  });

const notTriggered = <A extends Times>(period: Period<A>): BindableOperator<EventName> =>
  operator({
    drift: period.drift,
    needsOldest: period.needsOldest,
    read: period.read,
    sql: (name, argument, query) => sql`not ${happenedSql(name, period, argument, query)}`,
    evaluate: (name, argument, subject) => !happened(name, period, argument, subject),
  });

export const eventOperators: Operators<EventName> = {
  triggered: triggered(ever),
  notTriggered: notTriggered(ever),
  triggeredWithin: triggered(withinSpan),
  notTriggeredWithin: notTriggered(withinSpan),
  triggeredOlderThan: triggered(beforeSpan),
};
