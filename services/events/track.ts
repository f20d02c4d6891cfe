import type { Db } from '../../db/connect.ts';
import { contactValues, writeContact } from '../../db/models/contact-writing.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { type Data, readData } from '../contacts/data.ts';
import { tellingFaults } from '../contacts/faults.ts';
import type { ProjectAccess } from '../projects/keys.ts';
import { openProject, refusal } from '../projects/refusal.ts';

export interface TrackInput {
  email: string;
  event: string;
  subscribed?: boolean | undefined;
  data?: Data | null | undefined;
}

export interface Tracked {
  contactId: string;
  eventId: string;
  timestamp: Date;
}

const track = statement<{ contact_id: string; created_at: Date }>(
  'track',
  `insert into events (id, project_id, contact_id, name, data)
   select $3::uuid, project.id, contact.id, $4::text, $5::jsonb
   from ${openProject()} as project, ${writeContact('project.id', 6)} as contact
   returning contact_id, created_at`,
);

/** Contact and event in one statement: either both are there or neither. */
export async function trackEvent(db: Db, project: ProjectAccess, input: TrackInput): Promise<Tracked> {
  const { patch, deletes, seen } = readData(input.data);
  const contact = { email: input.email, subscribed: input.subscribed, subscribedWhenNew: true, patch, deletes };
  // Ids are made in the order in which the events shall be read: a change of subscription comes before the event.
  const contactParameters = contactValues(contact);
  const eventId = newId();
  const values = [project.projectId, project.keyGeneration, eventId, input.event, JSON.stringify(seen)];
  const [row] = await tellingFaults(() => track(db, [...values, ...contactParameters]));
  if (!row) throw await refusal(db, project);
  return { contactId: row.contact_id, eventId, timestamp: row.created_at };
}
