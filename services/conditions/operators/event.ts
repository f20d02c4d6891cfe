import { type Fragment, sql } from '../fragment.ts';
import { before, type Span, timestamp } from '../instants.ts';
import type { Question, Subject, Window } from '../types.ts';
import { count, span } from './arguments.ts';
import { type Entry, type Operator, type Operators, operator, type RawFilter } from './operator.ts';

/** The name under which it is recorded. */
export type EventName = string;

interface Times {
  atLeast: number;
}

interface TimesInSpan extends Times {
  span: Span;
}

const times = (filter: RawFilter): Times => ({ atLeast: count(filter) });
const timesInSpan = (filter: RawFilter): TimesInSpan => ({ atLeast: count(filter), span: span(filter) });

/** Which of the events with that name count. */
interface Period<Argument extends Times> {
  read(filter: RawFilter): Argument;
  sql(argument: Argument, question: Question): Fragment;
  holds(createdAt: Date, argument: Argument, subject: Subject): boolean;
  drift: Operator<EventName, Argument>['drift'];
  oldest: boolean;
}

const ever: Period<Times> = { read: times, sql: () => sql``, holds: () => true, drift: undefined, oldest: false };

/** Those with an event that was within the span at the beginning of the window, and is no longer at its end. */
const passed = (name: EventName, { span }: TimesInSpan, { from, to }: Window, { projectId }: Question): Fragment =>
  sql`select e.contact_id from events e where e.project_id = ${projectId} and e.name = ${name}
    and e.created_at >= ${timestamp(before(from, span))} and e.created_at < ${timestamp(before(to, span))}`;

const lately: Period<TimesInSpan> = {
  read: timesInSpan,
  sql: ({ span }, { now }) => sql`and e.created_at >= ${timestamp(before(now, span))}`,
  holds: (createdAt, { span }, { now }) => createdAt.getTime() >= before(now, span),
  drift: passed,
  oldest: false,
};

const longAgo: Period<TimesInSpan> = {
  read: timesInSpan,
  sql: ({ span }, { now }) => sql`and e.created_at < ${timestamp(before(now, span))}`,
  holds: (createdAt, { span }, { now }) => createdAt.getTime() < before(now, span),
  drift: passed,
  oldest: true,
};

function happenedSql<A extends Times>(name: EventName, period: Period<A>, argument: A, question: Question): Fragment {
  const those = sql`from events e
    where e.project_id = ${question.projectId} and e.contact_id = c.id and e.name = ${name} ${period.sql(argument, question)}`;
  // Of a plain EXISTS the planner can make a join; to count, it must look for each contact, but never further than needed.
  if (argument.atLeast === 1) return sql`exists (select 1 ${those})`;
  return sql`(select count(*) from (select 1 ${those} limit ${argument.atLeast}) times) >= ${argument.atLeast}`;
}

function happened<A extends Times>(name: EventName, period: Period<A>, argument: A, subject: Subject): boolean {
  const those = subject.events.filter(
    (event) => event.name === name && period.holds(event.createdAt, argument, subject),
  );
  return those.length >= argument.atLeast;
}

const triggered = <A extends Times>(period: Period<A>): Entry<EventName> =>
  operator({
    drift: period.drift,
    oldest: period.oldest,
    read: period.read,
    sql: (name, argument, question) => happenedSql(name, period, argument, question),
    decide: (name, argument, subject) => happened(name, period, argument, subject),
  });

const notTriggered = <A extends Times>(period: Period<A>): Entry<EventName> =>
  operator({
    drift: period.drift,
    oldest: period.oldest,
    read: period.read,
    sql: (name, argument, question) => sql`not ${happenedSql(name, period, argument, question)}`,
    decide: (name, argument, subject) => !happened(name, period, argument, subject),
  });

export const eventOperators: Operators<EventName> = {
  triggered: triggered(ever),
  notTriggered: notTriggered(ever),
  triggeredWithin: triggered(lately),
  notTriggeredWithin: notTriggered(lately),
  triggeredOlderThan: triggered(longAgo),
};
