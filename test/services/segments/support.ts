import type { Db } from '../../../db/connect.ts';
import type { Data } from '../../../services/contacts/data.ts';
import { saveContact } from '../../../services/contacts/save.ts';
import { applyContactChanges } from '../../../services/segments/changes.ts';
import { listSegmentMembers } from '../../../services/segments/members.ts';
import type { TestProject } from '../../support/connected-database.ts';

export const tree = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });
export const isPro = tree({ field: 'data.plan', operator: 'equals', value: 'pro' });
export const memberOf = (id: string) => tree({ field: `segment.${id}`, operator: 'memberOfSegment' });

/** Creates or changes a contact, and returns its id. */
export async function contact(db: Db, project: TestProject, email: string, data: Data = {}): Promise<string> {
  return (await saveContact(db, project.access, { email, data })).contact.id;
}

export async function membersOf(db: Db, project: TestProject, id: string): Promise<string[]> {
  const { data } = await listSegmentMembers(db, project.id, id, { page: 1, pageSize: 100 });
  return data.map(({ email }) => email).sort();
}

/** Returns entries and exits in the order in which they were recorded, such as `entry ann@example.com`. */
export async function movesOf(db: Db, project: TestProject, slug: string): Promise<string[]> {
  const rows = await db('events')
    .leftJoin('contacts', 'contacts.id', 'events.contactId')
    .where('events.projectId', project.id)
    .whereIn('events.name', [`segment.${slug}.entry`, `segment.${slug}.exit`])
    .orderBy('events.id')
    .select('events.name', 'contacts.email');
  return rows.map(({ name, email }) => `${name.slice(name.lastIndexOf('.') + 1)} ${email}`);
}

/** Applies changes until none is left, as the worker does. */
export async function applyAllChanges(db: Db): Promise<number> {
  let total = 0;
  for (let applied = await applyContactChanges(db); applied > 0; applied = await applyContactChanges(db))
    total += applied;
  return total;
}
