import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import type { TopicDefault, TopicState } from '../../../db/models/topic.ts';
import { joined, sql } from '../../../db/sql.ts';
import { queryRows } from '../../../db/statement.ts';
import { newId } from '../../../platform/ids.ts';
import { decides, filtersOf, toSql } from '../../../services/conditions/evaluate.ts';
import { loadFacts } from '../../../services/conditions/facts.ts';
import { requireCondition } from '../../../services/conditions/parse.ts';
import { resolveWith, type SegmentSource, staticSegmentsOf } from '../../../services/conditions/resolve.ts';
import type { Subject, Window } from '../../../services/conditions/types.ts';
import type { Data } from '../../../services/contacts/data.ts';
import { addEvents } from '../../support/rows/events.ts';
import { emailsInMemory, insertEmails, type TestEmail } from './population-emails.ts';

/** Its days begin an hour before those of UTC. */
const TIME_ZONE = 'Europe/Berlin';
export const NOW = new Date('2026-03-31T12:00:00.000Z');
/** NOW minus some milliseconds. */
export const ago = (milliseconds: number): Date => new Date(NOW.getTime() - milliseconds);

export interface Person {
  email: string;
  subscribed?: boolean;
  data?: Data;
  createdAt?: Date;
  updatedAt?: Date;
  events?: { name: string; createdAt: Date; data?: Data }[];
  /** Choices by key of the topic. */
  topics?: Record<string, { state: TopicState; since: Date }>;
  /** Ids of the static segments that contain the contact. */
  segments?: string[];
  emails?: TestEmail[];
}

/** Contacts in the database and in memory, for both kinds of evaluation. */
export interface Population {
  projectId: string;
  people: (Required<Person> & { id: string })[];
  segments: SegmentSource[];
  topics: TestTopic[];
}

/** A topic and its defaults since when, the first one since ever. */
export interface TestTopic {
  key: string;
  defaults: { since: Date | null; state: TopicDefault }[];
}

export async function populate(
  db: Db,
  people: Person[],
  segments: SegmentSource[] = [],
  topics: TestTopic[] = [],
): Promise<Population> {
  const projectId = newId();
  const full = people.map((person) => ({
    id: newId(),
    subscribed: true,
    data: {},
    createdAt: ago(1_000),
    updatedAt: ago(1_000),
    events: [],
    topics: {},
    segments: [],
    emails: [],
    ...person,
  }));
  const population = { projectId, people: full, segments, topics };
  // Segments exist in memory only; the table has just their members.
  await db.raw('alter table segment_members drop constraint if exists segment_members_segment_id_fkey');
  await insertPeople(db, projectId, full);
  for (const topic of topics) await insertTopic(db, projectId, topic, full);
  return population;
}

async function insertTopic(db: Db, projectId: string, { key, defaults }: TestTopic, people: Population['people']) {
  const topicId = newId();
  await db('topics').insert({
    id: topicId,
    projectId,
    key,
    name: key,
    kind: 'MARKETING',
    defaultState: defaults.at(-1)?.state,
    visibility: 'PUBLIC',
    position: 1,
  });
  await db('topic_defaults').insert(
    defaults.map(({ since, state }) => ({ topicId, projectId, since: since?.toISOString() ?? '-infinity', state })),
  );
  const choices = people.flatMap(({ id, topics }, n) => {
    const choice = topics[key];
    if (!choice) return [];
    const since = withMicroseconds(choice.since, n);
    return [{ contactId: id, topicId, projectId, state: choice.state, defaultState: 'SUBSCRIBED', since }];
  });
  if (choices.length > 0) await db('contact_topics').insert(choices);
}

/** The rule of effective states, written a second time for the comparison. */
const topicsInMemory = ({ topics }: Population, person: Population['people'][number]): Subject['topics'] =>
  new Map(
    topics.map(({ key, defaults }) => {
      const choice = person.topics[key];
      const inForce = defaults.findLast(({ since }) => since === null || since <= person.createdAt);
      return [key, { state: choice?.state ?? inForce?.state ?? 'PENDING', changedAt: choice?.since ?? null }];
    }),
  );

/** Adds microseconds to half of the dates, which must not change the result of SQL evaluation. */
const withMicroseconds = (date: Date, n: number): string => date.toISOString().replace('Z', n % 2 ? '789Z' : 'Z');

async function insertPeople(db: Db, projectId: string, people: Population['people']): Promise<void> {
  const contacts = people.map(({ id, email, subscribed, data, createdAt, updatedAt }, n) => ({
    id,
    projectId,
    email,
    subscribed,
    data: JSON.stringify(data),
    createdAt: withMicroseconds(createdAt, n),
    updatedAt: withMicroseconds(updatedAt, n),
  }));
  const events = people.flatMap((person, n) =>
    person.events.map(({ name, createdAt, data = {} }) => ({
      id: newId(),
      projectId,
      contactId: person.id,
      name,
      data: JSON.stringify(data),
      createdAt: withMicroseconds(createdAt, n),
    })),
  );
  const members = people.flatMap(({ id, segments }) => segments.map((segmentId) => ({ segmentId, contactId: id })));
  await db('contacts').insert(contacts);
  if (events.length > 0) await addEvents(db, events);
  if (members.length > 0) await db('segment_members').insert(members);
  await insertEmails(db, projectId, people, withMicroseconds);
}

/** With their data, so that tests of it are evaluated in memory too. */
const eventsInMemory = ({ events }: Population['people'][number]) => events.map((event) => ({ data: {}, ...event }));

export interface Results {
  bySql: string[];
  inMemory: string[];
}

/** Evaluates a condition as SQL and in memory, and returns the sorted addresses of matching contacts. */
export async function evaluateBoth(
  db: Db,
  population: Population,
  tree: unknown,
  context: Data = {},
): Promise<Results> {
  const { projectId, people, segments } = population;
  const parsed = requireCondition(tree, { inExecution: true });
  const resolved = await resolveWith(parsed, async (ids) => segments.filter(({ id }) => ids.includes(id)));
  const evaluationContext = { now: NOW, timeZone: TIME_ZONE, context, segments: resolved.segments };
  const matching = toSql(resolved.condition, { ...evaluationContext, projectId });
  const rows = await queryRows<{ email: string }>(
    db,
    sql`select c.email from contacts c where c.project_id = ${projectId} and ${matching}`,
  );
  const subjectOf = (contact: Population['people'][number]): Subject => ({
    ...evaluationContext,
    contact,
    events: eventsInMemory(contact),
    staticSegments: new Set(contact.segments),
    topics: topicsInMemory(population, contact),
    emails: emailsInMemory(contact.emails, resolved.uses.emailQuestions, NOW),
  });
  // As workflows and tracked segments evaluate: with what they load.
  const statics = staticSegmentsOf(resolved);
  const facts = await loadFacts(db, {
    projectId,
    contactIds: people.map(({ id }) => id),
    uses: resolved.uses,
    segmentIds: statics,
    now: NOW,
    timeZone: TIME_ZONE,
  });
  for (const person of people) {
    const loaded = facts.get(person.id);
    const isLoaded = loaded && decides(resolved.condition, { ...evaluationContext, ...loaded });
    expect(isLoaded, JSON.stringify(tree)).to.equal(decides(resolved.condition, subjectOf(person)));
  }
  return {
    bySql: rows.map(({ email }) => email).sort(),
    inMemory: people
      .filter((person) => decides(resolved.condition, subjectOf(person)))
      .map(({ email }) => email)
      .sort(),
  };
}

export interface Drift {
  /** Ids of contacts whose result differs between the ends of the window. */
  changed: string[];
  /** Ids of contacts that the filters select as possibly changed. */
  selected: string[];
}

/** Evaluates a condition at both ends of a window, with nothing but the time changed. */
export async function drift(db: Db, population: Population, tree: unknown, window: Window): Promise<Drift> {
  const { projectId, people, segments } = population;
  const resolved = await resolveWith(requireCondition(tree), async (ids) =>
    segments.filter(({ id }) => ids.includes(id)),
  );
  const evaluationContext = { timeZone: TIME_ZONE, context: {}, segments: resolved.segments };
  const atEnd = { ...evaluationContext, projectId, now: window.to };
  const selects = filtersOf(resolved.condition, resolved.segments).flatMap(
    (filter) => filter.drift?.(window, atEnd) ?? [],
  );
  const rows = await queryRows<{ id: string }>(
    db,
    selects.length > 0 ? joined(selects, ' union ') : sql`select null::uuid as id where false`,
  );
  const matchesAt = (contact: Population['people'][number], now: Date) =>
    decides(resolved.condition, {
      ...evaluationContext,
      now,
      contact,
      events: eventsInMemory(contact),
      staticSegments: new Set(contact.segments),
      topics: topicsInMemory(population, contact),
      emails: emailsInMemory(contact.emails, resolved.uses.emailQuestions, now),
    });
  return {
    changed: people.filter((one) => matchesAt(one, window.from) !== matchesAt(one, window.to)).map(({ id }) => id),
    selected: rows.flatMap((row) => Object.values(row) as string[]),
  };
}

export const tree = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });
