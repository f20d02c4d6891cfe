import type { Db } from '../../../db/connect.ts';
import { newId } from '../../../platform/ids.ts';
import { decides, filtersOf, toSql } from '../../../services/conditions/evaluate.ts';
import { joined, queryFragment, sql } from '../../../services/conditions/fragment.ts';
import { requireCondition } from '../../../services/conditions/parse.ts';
import { resolveWith, type SegmentSource } from '../../../services/conditions/resolve.ts';
import type { Subject, Window } from '../../../services/conditions/types.ts';
import type { Data } from '../../../services/contacts/data.ts';
import { addEvents } from '../../support/rows/events.ts';

export const NOW = new Date('2026-03-31T12:00:00.000Z');
/** NOW minus some milliseconds. */
export const ago = (milliseconds: number): Date => new Date(NOW.getTime() - milliseconds);

export interface Person {
  email: string;
  subscribed?: boolean;
  data?: Data;
  createdAt?: Date;
  updatedAt?: Date;
  events?: { name: string; createdAt: Date }[];
  /** Ids of the static segments that contain the contact. */
  segments?: string[];
}

/** Contacts in the database and in memory, for both kinds of evaluation. */
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
  // Segments exist in memory only; the table has just their members.
  await db.raw('alter table segment_members drop constraint if exists segment_members_segment_id_fkey');
  await insertPeople(db, projectId, full);
  return population;
}

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
    person.events.map(({ name, createdAt }) => ({
      id: newId(),
      projectId,
      contactId: person.id,
      name,
      createdAt: withMicroseconds(createdAt, n),
    })),
  );
  const members = people.flatMap(({ id, segments }) => segments.map((segmentId) => ({ segmentId, contactId: id })));
  await db('contacts').insert(contacts);
  if (events.length > 0) await addEvents(db, events);
  if (members.length > 0) await db('segment_members').insert(members);
}

export interface Results {
  bySql: string[];
  inMemory: string[];
}

/** Evaluates a condition as SQL and in memory, and returns the sorted addresses of matching contacts. */
export async function evaluateBoth(
  db: Db,
  { projectId, people, segments }: Population,
  tree: unknown,
  context: Data = {},
): Promise<Results> {
  const parsed = requireCondition(tree, { inExecution: true });
  const resolved = await resolveWith(parsed, async (ids) => segments.filter(({ id }) => ids.includes(id)));
  const evaluationContext = { now: NOW, context, segments: resolved.segments };
  const matching = toSql(resolved.condition, { ...evaluationContext, projectId });
  const rows = await queryFragment<{ email: string }>(
    db,
    sql`select c.email from contacts c where c.project_id = ${projectId} and ${matching}`,
  );
  const subjectOf = (contact: Population['people'][number]): Subject => ({
    ...evaluationContext,
    contact,
    events: contact.events,
    staticSegments: new Set(contact.segments),
  });
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
export async function drift(
  db: Db,
  { projectId, people, segments }: Population,
  tree: unknown,
  window: Window,
): Promise<Drift> {
  const resolved = await resolveWith(requireCondition(tree), async (ids) =>
    segments.filter(({ id }) => ids.includes(id)),
  );
  const evaluationContext = { context: {}, segments: resolved.segments };
  const query = { ...evaluationContext, projectId, now: window.to };
  const selects = filtersOf(resolved.condition, resolved.segments).flatMap(
    (filter) => filter.drift?.(window, query) ?? [],
  );
  const rows = await queryFragment<{ id: string }>(
    db,
    selects.length > 0 ? joined(selects, ' union ') : sql`select null::uuid as id where false`,
  );
  const matchesAt = (contact: Population['people'][number], now: Date) =>
    decides(resolved.condition, {
      ...evaluationContext,
      now,
      contact,
      events: contact.events,
      staticSegments: new Set(contact.segments),
    });
  return {
    changed: people.filter((one) => matchesAt(one, window.from) !== matchesAt(one, window.to)).map(({ id }) => id),
    selected: rows.flatMap((row) => Object.values(row) as string[]),
  };
}

export const tree = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });
