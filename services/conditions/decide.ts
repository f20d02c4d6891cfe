import type { Db } from '../../db/connect.ts';
import { Contact } from '../../db/models/contact.ts';
import type { Data } from '../contacts/data.ts';
import { run, sql } from './fragment.ts';
import { decides } from './read.ts';
import type { ResolvedCondition } from './resolve.ts';
import type { Subject, Uses } from './types.ts';

export interface Asked {
  projectId: string;
  contactId: string;
  now: Date;
  /** Of the execution that asks. */
  context?: Data;
}

/** Whether one contact matches; of its events only those are fetched that can make a difference. */
export async function decideFor(db: Db, resolved: ResolvedCondition, asked: Asked): Promise<boolean> {
  const { condition, uses, segments } = resolved;
  const { projectId, contactId, now, context = {} } = asked;
  const contact = await Contact.query(db).findOne({ id: contactId, projectId });
  if (!contact) return false;
  const events = await eventsOf(db, asked, uses);
  const staticSegments = await staticSegmentsOf(db, contactId, resolved);
  return decides(condition, { contact, events, staticSegments, segments, context, now });
}

// Nobody asks for more than `eventCount` of the newest ones or of the oldest ones.
async function eventsOf(db: Db, asked: Asked, { events, eventCount }: Uses): Promise<Subject['events']> {
  if (events.size === 0) return [];
  const own = sql`select e.id, e.name, e.created_at from events e
    where e.project_id = ${asked.projectId} and e.name = asked.name and e.contact_id = ${asked.contactId}`;
  const rows = await run<{ name: string; created_at: Date }>(
    db,
    sql`select found.name, found.created_at from unnest(${[...events]}::text[]) as asked (name)
      cross join lateral (
        (${own} order by e.created_at limit ${eventCount})
        union
        (${own} order by e.created_at desc limit ${eventCount})
      ) found`,
  );
  return rows.map(({ name, created_at }) => ({ name, createdAt: created_at }));
}

async function staticSegmentsOf(db: Db, contactId: string, { segments }: ResolvedCondition): Promise<Set<string>> {
  const ids = [...segments].filter(([, { condition }]) => !condition).map(([id]) => id);
  if (ids.length === 0) return new Set();
  const rows = await run<{ segment_id: string }>(
    db,
    sql`select segment_id from segment_members where contact_id = ${contactId} and segment_id = any (${ids}::uuid[])`,
  );
  return new Set(rows.map((row) => row.segment_id));
}
