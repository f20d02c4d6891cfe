import type { Db } from '../../db/connect.ts';
import type { BulkResult, BulkType } from '../../db/models/job.ts';
import type { TopicDefault } from '../../db/models/topic.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { type ConsentContext, withConsent } from '../access/consent-context.ts';
import { readData } from '../contacts/data.ts';
import { writeContacts } from '../contacts/write.ts';
import { deleteContacts } from '../removal/contact.ts';
import { addExistingMembers, lockJobSegment } from '../segments/static-members.ts';
import { writeChoices } from '../topics/choices.ts';
import { findTopicForUse } from '../topics/find.ts';
import type { BulkOptions } from './create-by-condition.ts';

interface BulkAction extends BulkOptions {
  type: BulkType;
}

/** What happened to one contact. */
type Outcome = boolean | { error: string };

// Locks all contacts before changing any, in the order of their addresses, as all statements that write several.
const subscribe = statement<{ id: string; isChanged: boolean }>(
  'contacts-subscribe',
  `with locked as materialized (
     select id from contacts where project_id = $1 and id = any ($2::uuid[]) order by email collate "C" for update
   )
   select written.id, written.is_changed
   from locked join unnest($2::uuid[], $3::uuid[]) as given (id, event_id) using (id),
     update_contact($1::uuid, locked.id, null, $4::boolean, '{}', '[]', given.event_id, $5::jsonb) as written
   where written.id is not null`,
);

/** Applies a job to at most a thousand contacts, in the caller's transaction and in few statements. */
export async function applyBulk(
  trx: Db,
  projectId: string,
  action: BulkAction,
  contactIds: string[],
): Promise<BulkResult> {
  const ids = [...new Set(contactIds.map((id) => id.toLowerCase()))];
  const known = await apply(trx, projectId, action, ids);
  const errors = ids.flatMap((contactId) => {
    const outcome = known.get(contactId);
    if (outcome === undefined) return [{ contactId, error: 'contact not found in this project' }];
    return typeof outcome === 'object' ? [{ contactId, error: outcome.error }] : [];
  });
  const changed = [...known.values()].filter((outcome) => outcome === true).length;
  return {
    requested: contactIds.length,
    changed,
    unchanged: contactIds.length - changed - errors.length,
    failed: errors.length,
    errors,
  };
}

/** Returns the existing contacts, and whether each was changed. */
async function apply(
  trx: Db,
  projectId: string,
  { type, toSegmentId, field, value, topicId, orderedBy = { method: 'API' } }: BulkAction,
  ids: string[],
): Promise<Map<string, Outcome>> {
  switch (type) {
    case 'BULK_DELETE': {
      const deleted = await deleteContacts(trx, projectId, ids);
      return new Map(deleted.map((id) => [id, true]));
    }
    case 'BULK_ADD_TO_SEGMENT':
      return addToSegment(trx, projectId, toSegmentId ?? '', ids);
    case 'BULK_SET_FIELD':
      return setField(trx, projectId, { [field ?? '']: value }, ids);
    case 'BULK_SUBSCRIBE':
    case 'BULK_UNSUBSCRIBE': {
      const rows = await subscribe(trx, [
        projectId,
        ids,
        ids.map(() => newId()),
        type === 'BULK_SUBSCRIBE',
        withConsent(orderedBy),
      ]);
      return new Map(rows.map(({ id, isChanged }) => [id, isChanged]));
    }
    case 'BULK_TOPIC_SUBSCRIBE':
      return chooseTopic(trx, projectId, { topicId, state: 'SUBSCRIBED', orderedBy }, ids);
    case 'BULK_TOPIC_UNSUBSCRIBE':
      return chooseTopic(trx, projectId, { topicId, state: 'UNSUBSCRIBED', orderedBy }, ids);
  }
}

const lockContacts = statement<{ id: string; email: string }>(
  'contacts-lock-given',
  `select id, email from contacts where project_id = $1 and id = any ($2::uuid[]) order by email collate "C" for update`,
);

interface TopicChoice {
  topicId: string | undefined;
  state: TopicDefault;
  orderedBy: ConsentContext;
}

async function chooseTopic(
  trx: Db,
  projectId: string,
  { topicId = '', state, orderedBy }: TopicChoice,
  ids: string[],
): Promise<Map<string, Outcome>> {
  const topic = await findTopicForUse(trx, projectId, topicId);
  const contacts = await lockContacts(trx, [projectId, ids]);
  const refused = (error: string) => new Map(contacts.map(({ id }) => [id, { error }]));
  if (!topic) return refused('the topic no longer exists');
  if (topic.archived && state === 'SUBSCRIBED') return refused('the topic is archived');
  const choices = { [topicId]: state };
  const rows = await writeChoices(
    trx,
    projectId,
    contacts.map(({ id }) => ({ contactId: id, choices, context: orderedBy })),
  );
  return new Map(rows.map(({ id, changed }) => [id, changed > 0]));
}

async function addToSegment(
  trx: Db,
  projectId: string,
  segmentId: string,
  ids: string[],
): Promise<Map<string, Outcome>> {
  const segment = await lockJobSegment(trx, projectId, segmentId);
  const contacts = await lockContacts(trx, [projectId, ids]);
  if (!segment) return new Map(contacts.map(({ id }) => [id, { error: 'the segment no longer exists' }]));
  const emails = contacts.map(({ email }) => email);
  const added = new Set(await addExistingMembers(trx, segment, emails));
  return new Map(contacts.map(({ id, email }) => [id, added.has(email)]));
}

/** The contacts exist and are locked, so none is created. */
async function setField(
  trx: Db,
  projectId: string,
  data: Record<string, unknown>,
  ids: string[],
): Promise<Map<string, Outcome>> {
  const { patch, deletes } = readData(data);
  const contacts = await lockContacts(trx, [projectId, ids]);
  const { written, refused } = await writeContacts(
    trx,
    projectId,
    contacts.map(({ email }) => ({ email, subscribedWhenNew: true, patch, deletes })),
  );
  const errors = new Map(refused.map(({ email, error }) => [email, error]));
  const changed = new Map(written.map(({ email, isChanged }) => [email, isChanged]));
  return new Map(
    contacts.map(({ id, email }): [string, Outcome] => {
      const error = errors.get(email);
      return [id, error === undefined ? (changed.get(email) ?? false) : { error }];
    }),
  );
}
