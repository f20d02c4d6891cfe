import type { Db } from '../../db/connect.ts';
import type { ContactRecord } from '../../db/models/contact.ts';
import { statement } from '../../db/statement.ts';
import type { Limits } from '../../platform/limits.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { findContact } from '../contacts/find.ts';
import { type ContactInput, type SavedContact, saveContact, updateContact } from '../contacts/save.ts';
import { type ChoicesInput, chooseTopics, contextOf } from './choices.ts';

export type ContactWithTopics = ContactInput & ChoicesInput;

const namesTopics = ({ topics, consent, confirmation }: ChoicesInput): boolean =>
  topics !== undefined || consent !== undefined || confirmation !== undefined;

const recordConsent = statement(
  'contact-created-with-consent',
  `select write_consent($1, $2, $3, null, 'GRANTED', $4::jsonb)`,
);

/** Creates the contact with this address, or changes it, together with its choices. */
export async function saveContactWithTopics(
  db: Db,
  project: ProjectAccess,
  input: ContactWithTopics,
  limits: Limits,
): Promise<SavedContact> {
  if (!namesTopics(input)) return saveContact(db, project, input, limits);
  return writing(db, project, async (trx) => {
    const saved = await saveContact(trx, project, input, limits);
    const { contact, isNew } = saved;
    await chooseTopics(trx, project, contact.id, input, { isNew });
    const hasTopics = Object.keys(input.topics ?? {}).length > 0;
    // Of a contact that exists, the change of its subscription is recorded.
    if (isNew && input.consent && contact.subscribed && !hasTopics)
      await recordConsent(trx, [
        project.projectId,
        contact.id,
        contact.email,
        JSON.stringify(contextOf(project, input, isNew)),
      ]);
    return { ...saved, contact: await findContact(trx, project.projectId, contact.id) };
  });
}

/** Changes a contact together with its choices. */
export async function updateContactWithTopics(
  db: Db,
  project: ProjectAccess,
  id: string,
  input: Partial<ContactWithTopics>,
  limits: Limits,
): Promise<ContactRecord> {
  if (!namesTopics(input)) return updateContact(db, project, id, input, limits);
  return writing(db, project, async (trx) => {
    const { id: contactId } = await updateContact(trx, project, id, input, limits);
    await chooseTopics(trx, project, contactId, input);
    return findContact(trx, project.projectId, contactId);
  });
}
