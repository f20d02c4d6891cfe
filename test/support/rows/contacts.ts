// Contacts and segments as they are stored: for large numbers, and for proof of what was and was not written.
import type { Db } from '../../../db/connect.ts';

export const storedContacts = (db: Db, where: object) => db('contacts').where(where).orderBy('email');

export const contactById = (db: Db, id: string) => db('contacts').where({ id }).first();

export const contactWith = (db: Db, projectId: string, email: string) =>
  db('contacts').where({ projectId, email }).first();

/** Writes to contacts without events, audit or the check of the address. */
export const setContacts = (db: Db, where: object, columns: object) => db('contacts').where(where).update(columns);

/** Removes the row only, as if the contact had been erased at this moment. */
export const removeContacts = (db: Db, where: object) => db('contacts').where(where).del();

export interface ContactSeries {
  /** `<prefix>1@<domain>`, `<prefix>2@<domain>` … */
  prefix?: string;
  domain?: string;
  /** SQL for the data; `n` counts from 1. */
  data?: string;
}

/** Inserts many contacts at once. */
export const addContactSeries = (
  db: Db,
  projectId: string,
  count: number,
  { prefix = 'c', domain = 'example.com', data = `'{}'` }: ContactSeries = {},
) =>
  db.raw(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), ?, ? || n || '@' || ?, true, ${data}::jsonb from generate_series(1, ?::integer) n`,
    [projectId, prefix, domain, count],
  );

export const storedMembers = (db: Db, segmentId: string) => db('segment_members').where({ segmentId });

export const setSegment = (db: Db, id: string, columns: object) => db('segments').where({ id }).update(columns);

export const segmentRow = (db: Db, id: string) => db('segments').where({ id }).first();

export const addSegment = (db: Db, columns: object) => db('segments').insert(columns);

export const addMember = (db: Db, segmentId: string, contactId: string) =>
  db('segment_members').insert({ segmentId, contactId });

/** Changes of contacts that tracked segments have not evaluated yet. */
export const storedContactChanges = (db: Db, projectId: string) => db('contact_changes').where({ projectId });

export const storedRecounts = (db: Db, segmentId: string) => db('segment_recounts').where({ segmentId });

/** The contacts that a segment has as members. */
export const storedMemberContacts = (db: Db, segmentId: string) =>
  db('segmentMembers').join('contacts', 'contacts.id', 'contactId').where({ segmentId });
