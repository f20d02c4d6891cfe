import { type Fragment, sql } from '../../../db/sql.ts';
import { readEventTests } from '../event-data.ts';
import { before, type TimeSpan, timestamp } from '../instants.ts';
import type { ConditionQuery, EventTests, Subject, SubjectEvent, Window } from '../types.ts';
import { readCount, readSpan } from './arguments.ts';
import { type BindableOperator, type Operator, type Operators, operator, type RawFilter } from './operator.ts';

/** The recorded name of an event. */
export type EventName = string;

interface Tested {
  /** Of the data of each event. */
  tests: EventTests | undefined;
}

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
  argument: A & Tested,
  query: ConditionQuery,
): Fragment {
  const { atLeast, tests } = argument;
  const matchingEvents = sql`from events e
    where e.project_id = ${query.projectId} and e.contact_id = c.id and e.name = ${name} ${period.sql(argument, query)}
      ${tests ? sql`and ${tests.sql(query)}` : sql``}`;
  // The planner can turn EXISTS into a join. Counting runs per contact, so LIMIT stops it as early as possible.
  if (atLeast === 1) return sql`exists (select 1 ${matchingEvents})`;
  return sql`(select count(*) from (select 1 ${matchingEvents} limit ${atLeast}) times) >= ${atLeast}`;
}

function happened<A extends Times>(
  name: EventName,
  period: Period<A>,
  argument: A & Tested,
  subject: Subject,
): boolean {
  const { atLeast, tests } = argument;
  const matchingEvents = subject.events.filter(
    (event) =>
      event.name === name && period.includes(event.createdAt, argument, subject) && passes(event, tests, subject),
  );
  return matchingEvents.length >= atLeast;
}

function passes({ tests: passed, data }: SubjectEvent, tests: EventTests | undefined, subject: Subject): boolean {
  if (!tests) return passed === undefined;
  return passed === tests.id || (data !== undefined && tests.evaluate(data, subject));
}

type Negation = (happened: boolean) => boolean;

const isTrue: Negation = (result) => result;
const isFalse: Negation = (result) => !result;

/** The argument contains the event's name, which the dates in its data need. */
const operatorOn = <A extends Times>(period: Period<A>, negation: Negation): BindableOperator<EventName> => ({
  bind(name, filter) {
    const tests = readEventTests(name, filter);
    return operator<EventName, A & Tested>({
      drift: driftOf(period, tests),
      needsOldest: period.needsOldest,
      read: (given) => ({ ...period.read(given), tests }),
      sql: (event, argument, query) => {
        const sqlTest = happenedSql(event, period, argument, query);
        return negation(true) ? sqlTest : sql`not ${sqlTest}`;
      },
      evaluate: (event, argument, subject) => negation(happened(event, period, argument, subject)),
    }).bind(name, filter);
  },
});

function driftOf<A extends Times>(
  period: Period<A>,
  tests: EventTests | undefined,
): Operator<EventName, A>['drift'] | undefined {
  const { drift } = period;
  const testsDrift = tests?.drift;
  if (!testsDrift) return drift;
  if (!drift) return (_name, _argument, window, query) => testsDrift(window, query);
  return (name, argument, window, query) =>
    sql`${drift(name, argument, window, query)} union ${testsDrift(window, query)}`;
}

const triggered = <A extends Times>(period: Period<A>) => operatorOn(period, isTrue);
const notTriggered = <A extends Times>(period: Period<A>) => operatorOn(period, isFalse);

export const eventOperators: Operators<EventName> = {
  triggered: triggered(ever),
  notTriggered: notTriggered(ever),
  triggeredWithin: triggered(withinSpan),
  notTriggeredWithin: notTriggered(withinSpan),
  triggeredOlderThan: triggered(beforeSpan),
};
