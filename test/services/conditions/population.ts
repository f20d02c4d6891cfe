import type { Db } from '../../../db/connect.ts';
import { newId } from '../../../platform/ids.ts';
import { joined, run, sql } from '../../../services/conditions/fragment.ts';
import { conditionOf } from '../../../services/conditions/parse.ts';
import { decides, filtersOf, toSql } from '../../../services/conditions/read.ts';
import { resolveWith, type SegmentSource } from '../../../services/conditions/resolve.ts';
import type { Subject, Window } from '../../../services/conditions/types.ts';
import type { Data } from '../../../services/contacts/data.ts';

export const NOW = new Date('2026-03-31T12:00:00.000Z');
/** 2026-03-31T12:00:00Z less so many milliseconds. */
export const ago = (milliseconds: number): Date => new Date(NOW.getTime() - milliseconds);

export interface Person {
  email: string;
  subscribed?: boolean;
  data?: Data;
  createdAt?: Date;
  updatedAt?: Date;
  events?: { name: string; createdAt: Date }[];
  /** Static segments that it is in. */
  segments?: string[];
}

/** Contacts that stand in the database and in memory alike, so that either reader can be asked about them. */
export interface Population {
  projectId: string;
  people: (Required<Person> & { id: string })[];
  segments: SegmentSource[];
}

export async function populate(db: Db, people: Person[], segments: SegmentSource[] = []): Promise<Population> {
  const projectId = newId();
  const full = people.map((person) => ({
    id: newId(),
    subscribed: true,
    data: {},
    createdAt: ago(1_000),
    updatedAt: ago(1_000),
    events: [],
    segments: [],
    ...person,
  }));
  const population = { projectId, people: full, segments };
  // Membership alone is asked of the table; the segments themselves come from memory.
  await db.raw('alter table segment_members drop constraint if exists segment_members_segment_id_fkey');
  await insertPeople(db, projectId, full);
  return population;
}

/** Columns can be finer than what JavaScript knows of them; the readers must not disagree about the rest. */
const finer = (date: Date, n: number): string => date.toISOString().replace('Z', n % 2 ? '789Z' : 'Z');

async function insertPeople(db: Db, projectId: string, people: Population['people']): Promise<void> {
  const contacts = people.map(({ id, email, subscribed, data, createdAt, updatedAt }, n) => ({
    id,
    projectId,
    email,
    subscribed,
    data: JSON.stringify(data),
    createdAt: finer(createdAt, n),
    updatedAt: finer(updatedAt, n),
  }));
  const events = people.flatMap((person, n) =>
    person.events.map(({ name, createdAt }) => ({
      id: newId(),
      projectId,
      contactId: person.id,
      name,
      createdAt: finer(createdAt, n),
    })),
  );
  const members = people.flatMap(({ id, segments }) => segments.map((segmentId) => ({ segmentId, contactId: id })));
  await db('contacts').insert(contacts);
  if (events.length > 0) await db('events').insert(events);
  if (members.length > 0) await db('segment_members').insert(members);
}

export interface Answers {
  bySql: string[];
  byDecision: string[];
}

/** Asks both readers about every contact; gives the addresses of those that match, in order. */
export async function ask(
  db: Db,
  { projectId, people, segments }: Population,
  tree: unknown,
  context: Data = {},
): Promise<Answers> {
  const parsed = conditionOf(tree, { inExecution: true });
  const resolved = await resolveWith(parsed, async (ids) => segments.filter(({ id }) => ids.includes(id)));
  const circumstances = { now: NOW, context, segments: resolved.segments };
  const matching = toSql(resolved.condition, { ...circumstances, projectId });
  const rows = await run<{ email: string }>(
    db,
    sql`select c.email from contacts c where c.project_id = ${projectId} and ${matching}`,
  );
  const subjectOf = (contact: Population['people'][number]): Subject => ({
    ...circumstances,
    contact,
    events: contact.events,
    staticSegments: new Set(contact.segments),
  });
  return {
    bySql: rows.map(({ email }) => email).sort(),
    byDecision: people
      .filter((person) => decides(resolved.condition, subjectOf(person)))
      .map(({ email }) => email)
      .sort(),
  };
}

export interface Drift {
  /** Those about whom the decision is not the same at both ends of the window. */
  changed: string[];
  /** Those that the filters name as possibly changed. */
  named: string[];
}

/** Lets time pass, and nothing else. */
export async function drift(
  db: Db,
  { projectId, people, segments }: Population,
  tree: unknown,
  window: Window,
): Promise<Drift> {
  const resolved = await resolveWith(conditionOf(tree), async (ids) => segments.filter(({ id }) => ids.includes(id)));
  const circumstances = { context: {}, segments: resolved.segments };
  const question = { ...circumstances, projectId, now: window.to };
  const selects = filtersOf(resolved.condition, resolved.segments).flatMap(
    (filter) => filter.drift?.(window, question) ?? [],
  );
  const rows = await run<{ id: string }>(
    db,
    selects.length > 0 ? joined(selects, ' union ') : sql`select null::uuid as id where false`,
  );
  const decided = (contact: Population['people'][number], now: Date) =>
    decides(resolved.condition, {
      ...circumstances,
      now,
      contact,
      events: contact.events,
      staticSegments: new Set(contact.segments),
    });
  return {
    changed: people.filter((one) => decided(one, window.from) !== decided(one, window.to)).map(({ id }) => id),
    named: rows.flatMap((row) => Object.values(row) as string[]),
  };
}

export const tree = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });
