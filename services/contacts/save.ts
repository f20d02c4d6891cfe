import type { Db } from '../../db/connect.ts';
import { type ContactRecord, contactRecord } from '../../db/models/contact.ts';
import { contactValues, writeContactSql } from '../../db/models/contact-writing.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import { type ConsentEvidence, consentContextOf, withConsent } from '../access/consent-context.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { keyIdOf, openProject, refusal } from '../access/open-project.ts';
import type { Data } from './data.ts';
import { readLimitedData, requireRoomForFields } from './limits.ts';
import { translatingContactErrors } from './violations.ts';

export interface ContactInput {
  email: string;
  subscribed?: boolean | undefined;
  data?: Data | null | undefined;
  /** Proof that the contact agreed, kept with the record of a changed subscription. */
  consent?: ConsentEvidence | undefined;
}

export interface SavedContact {
  contact: ContactRecord;
  isNew: boolean;
}

const save = statement<ContactRecord & { isNew: boolean }>(
  'contact-save',
  `select written.is_new, saved.*
   from ${openProject('$12')} as project, ${writeContactSql('project.id', 3)} as written, current_contact(written.id) as saved`,
);

/** Creates the contact with this address, or changes it. */
export async function saveContact(
  db: Db,
  project: ProjectAccess,
  input: ContactInput,
  limits: Limits = UNLIMITED,
): Promise<SavedContact> {
  const { patch, deletes } = readLimitedData(input.data, limits);
  await requireRoomForFields(db, project.projectId, patch, limits);
  const eventData = eventDataOf(project, input);
  const contact = {
    email: input.email,
    subscribed: input.subscribed,
    subscribedWhenNew: true,
    patch,
    deletes,
    eventData,
  };
  const values = [project.projectId, project.keyGeneration, ...contactValues(contact), keyIdOf(project)];
  const [row] = await translatingContactErrors(() => retryDeadlocks(db, () => save(db, values)));
  if (!row) throw await refusal(db, project);
  return { contact: contactRecord(row), isNew: row.isNew };
}

const change = statement<ContactRecord | { id: null }>(
  'contact-change',
  `select changed.*
   from ${openProject('$10')} as project
   left join update_contact(project.id, $3::uuid, $4::text, $5::boolean, $6::jsonb, $7::jsonb, $8::uuid, $9::jsonb) as written on true
   left join current_contact(written.id) as changed on true`,
);

/** Changes the contact with this id, and its address; 409 when another contact has the address. */
export async function updateContact(
  db: Db,
  project: ProjectAccess,
  id: string,
  input: Partial<ContactInput>,
  limits: Limits = UNLIMITED,
): Promise<ContactRecord> {
  const { patch, deletes } = readLimitedData(input.data, limits);
  await requireRoomForFields(db, project.projectId, patch, limits);
  const [row] = await translatingContactErrors(() =>
    retryDeadlocks(db, () =>
      change(db, [
        project.projectId,
        project.keyGeneration,
        id,
        input.email ?? null,
        input.subscribed ?? null,
        JSON.stringify(patch),
        JSON.stringify(deletes),
        newId(),
        eventDataOf(project, input),
        keyIdOf(project),
      ]),
    ),
  );
  if (!row) throw await refusal(db, project);
  if (row.id === null) throw contactNotFound();
  return contactRecord(row);
}

/** Names who changes the subscription, with the proof of consent. */
const eventDataOf = (project: ProjectAccess, { consent }: Partial<ContactInput>): string =>
  withConsent({ ...consentContextOf(project), ...(consent && { evidence: consent }) });

export const contactNotFound = () => notFound('contact', 'CONTACT_NOT_FOUND');
