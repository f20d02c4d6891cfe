import { type Db, wake } from '../../db/connect.ts';
import { insertEventsSql } from '../../db/models/event-writing.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import { consentContextOf, withConsent } from '../access/consent-context.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { keyIdOf, openProject, refusal } from '../access/open-project.ts';
import type { Data } from '../contacts/data.ts';
import { readLimitedData, requireRoomForEvent, requireRoomForFields } from '../contacts/limits.ts';
import { contactNotFound } from '../contacts/save.ts';
import { translatingContactErrors } from '../contacts/violations.ts';
import type { Tracked } from './track.ts';

export interface TrackContactInput {
  contactId: string;
  name: string;
  subscribed?: boolean | undefined;
  data?: Data | null | undefined;
}

const track = statement<{ contactId: string | null; createdAt: Date }>(
  'track-contact',
  `with contact as materialized (
     select written.id from ${openProject('$12')} as project
     left join update_contact(project.id, $3::uuid, null, $4::boolean, $5::jsonb, $6::jsonb, $7::uuid, $11::jsonb) as written on true
   ),
   recorded as (
     ${insertEventsSql(
       `select $8::uuid, $1, id, $9::text, $10::jsonb, null::uuid, cascade_depth() from contact where id is not null`,
     )}
     returning created_at
   )
   select contact.id as contact_id, recorded.created_at from contact left join recorded on true`,
);

/** The same as `trackEvent` for an existing contact, named by its id. */
export async function trackEventOf(
  db: Db,
  project: ProjectAccess,
  input: TrackContactInput,
  limits: Limits = UNLIMITED,
): Promise<Tracked> {
  const { patch, deletes, seen } = readLimitedData(input.data, limits);
  await requireRoomForEvent(db, project.projectId, input.name, limits);
  await requireRoomForFields(db, project.projectId, patch, limits);
  // Ids are in the order of reading: a change of subscription comes before the event.
  const changeId = newId();
  const eventId = newId();
  const values = [
    project.projectId,
    project.keyGeneration,
    input.contactId,
    input.subscribed ?? null,
    JSON.stringify(patch),
    JSON.stringify(deletes),
    changeId,
    eventId,
    input.name,
    JSON.stringify(seen),
    withConsent(consentContextOf(project)),
    keyIdOf(project),
  ];
  const [row] = await translatingContactErrors(() => retryDeadlocks(db, () => track(db, values)));
  if (!row) throw await refusal(db, project);
  if (row.contactId === null) throw contactNotFound();
  wake(db, 'events');
  return { contactId: row.contactId, eventId, timestamp: row.createdAt };
}
