import type { Db } from '../../db/connect.ts';
import { Contact, type ContactRecord } from '../../db/models/contact.ts';
import { contactNotFound } from './save.ts';

export async function findContact(db: Db, projectId: string, id: string): Promise<ContactRecord> {
  const contact = await Contact.query(db).findOne({ projectId, id });
  if (!contact) throw contactNotFound();
  return contact;
}

export interface ContactLookup {
  found: string[];
  notFound: string[];
}

/** Returns which of these addresses are contacts, spelled as the caller did. */
export async function lookUpContacts(db: Db, projectId: string, emails: string[]): Promise<ContactLookup> {
  const given = emails.map((spelling) => ({ spelling, email: spelling.trim().toLowerCase() }));
  const rows = await Contact.query(db)
    .select('email')
    .where({ projectId })
    .whereIn('email', [...new Set(given.map(({ email }) => email))]);
  const known = new Set(rows.map(({ email }) => email));
  const spellings = (isKnown: boolean) =>
    given.filter(({ email }) => known.has(email) === isKnown).map(({ spelling }) => spelling);
  return { found: spellings(true), notFound: spellings(false) };
}
