import type { Db } from '../../db/connect.ts';
import { contactArrays, writeContactsSql } from '../../db/models/contact-writing.ts';
import { insertEventsSql } from '../../db/models/event-writing.ts';
import type { Segment } from '../../db/models/segment.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { lockSegment, requireStatic } from './find.ts';

export interface NewMembers {
  /** As the caller spelled them. */
  emails: string[];
  createMissing?: boolean | undefined;
  /** For contacts that are created. */
  subscribed?: boolean | undefined;
}

export interface AddedMembers {
  added: number;
  created: number;
  /** As the caller spelled them. */
  notFound: string[];
}

interface Row {
  email: string;
  isNew: boolean;
  isAdded: boolean;
}

// Parameters of all statements here: $1 project, $2 segment, $3 addresses, $4 the id of an event for each address, $5 the
// name of the event. Contacts are locked in the order of their addresses, as by all statements that write several.
const existing = `contact as materialized (
    select c.id, c.email, false as is_new from contacts c
    where c.project_id = $1 and c.email = any ($3::text[]) order by c.email collate "C" for update
  )`;

const existingOrCreated = `project as materialized (select $1::uuid as id), ${writeContactsSql(6)}`;

/**
 * Records the events of the contacts in the CTE `moved (contact_id)` when the segment is tracked, records their change for
 * segments that refer to this one, and updates the count.
 */
const recordMoved = (sign: '+' | '-'): string => `
  recorded as (
    ${insertEventsSql(
      `select given.event_id, s.project_id, contact.id, $5::text,
         jsonb_build_object('segmentId', s.id, 'segmentName', s.name), null::uuid, cascade_depth()
       from moved join contact on contact.id = moved.contact_id
         join unnest($3::text[], $4::uuid[]) as given (email, event_id) using (email)
         cross join segments s
       where s.id = $2 and s.track_membership`,
    )}
  ),
  changes as (
    insert into contact_changes (project_id, contact_id, dependencies)
    select $1::uuid, contact_id, array['segment.' || $2::text] from moved
    where exists (select 1 from segment_dependencies where project_id = $1 and dependency = 'segment.' || $2::text)
  ),
  counted as (
    update segments set member_count =
      (select count(*) from segment_members where segment_id = $2) ${sign} (select count(*) from moved)
    where id = $2
  )`;

const add = (contacts: string) => `with ${contacts},
  moved as (
    insert into segment_members (segment_id, contact_id) select $2::uuid, id from contact
    on conflict do nothing returning contact_id
  ), ${recordMoved('+')}
  select contact.email, contact.is_new, moved.contact_id is not null as is_added
  from contact left join moved on moved.contact_id = contact.id`;

const addExisting = statement<Row>('segment-add', add(existing));
const addCreating = statement<Row>('segment-add-creating', add(existingOrCreated));

const removeExisting = statement<{ removed: number }>(
  'segment-remove',
  `with ${existing},
   moved as (
     delete from segment_members m using contact where m.segment_id = $2 and m.contact_id = contact.id
     returning m.contact_id
   ), ${recordMoved('-')}
   select count(*)::integer as removed from moved`,
);

export async function addMembers(
  db: Db,
  project: ProjectAccess,
  id: string,
  { emails, createMissing = false, subscribed = true }: NewMembers,
): Promise<AddedMembers> {
  const spelling = new Map(emails.map((email) => [normalized(email), email]));
  const addresses = [...spelling.keys()];
  return writing(db, project, async (trx) => {
    const segment = await lockStatic(trx, project.projectId, id);
    const parameters = parametersOf(segment, addresses, 'entry');
    const rows = createMissing
      ? await addCreating(trx, [
          ...parameters,
          ...contactArrays(addresses.map((email) => newContact(email, subscribed))),
        ])
      : await addExisting(trx, parameters);
    const known = new Set(rows.map(({ email }) => email));
    return {
      added: rows.filter((row) => row.isAdded).length,
      created: rows.filter((row) => row.isNew).length,
      notFound: [...spelling].filter(([email]) => !known.has(email)).map(([, given]) => given),
    };
  });
}

export async function removeMembers(
  db: Db,
  project: ProjectAccess,
  id: string,
  emails: string[],
): Promise<{ removed: number }> {
  const addresses = [...new Set(emails.map(normalized))];
  return writing(db, project, async (trx) => {
    const segment = await lockStatic(trx, project.projectId, id);
    const [row] = await removeExisting(trx, parametersOf(segment, addresses, 'exit'));
    return { removed: row?.removed ?? 0 };
  });
}

/** Locks the segment, so that its members change one request at a time and the count is right. */
const lockStatic = async (trx: Db, projectId: string, id: string): Promise<Segment> =>
  requireStatic(await lockSegment(trx, projectId, id));

/**
 * Locks the segment to which a job adds contacts. Call it before contacts are locked. Undefined once the segment is deleted.
 */
export const lockJobSegment = (trx: Db, projectId: string, id: string): Promise<Segment | undefined> =>
  lockStatic(trx, projectId, id).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    return undefined;
  });

/** Adds existing contacts, in the transaction that has locked the segment. Returns the addresses that were not members. */
export async function addExistingMembers(trx: Db, segment: Segment, emails: string[]): Promise<string[]> {
  if (emails.length === 0) return [];
  const rows = await addExisting(trx, parametersOf(segment, emails, 'entry'));
  return rows.filter(({ isAdded }) => isAdded).map(({ email }) => email);
}

const parametersOf = ({ id, projectId, slug }: Segment, addresses: string[], event: 'entry' | 'exit'): unknown[] => [
  projectId,
  id,
  addresses,
  addresses.map(newId),
  `segment.${slug}.${event}`,
];

/** Leaves an existing contact as it is. */
const newContact = (email: string, subscribed: boolean) => ({
  email,
  subscribedWhenNew: subscribed,
  patch: {},
  deletes: [],
});

const normalized = (email: string): string => email.trim().toLowerCase();
