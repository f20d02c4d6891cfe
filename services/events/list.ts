import type { Db } from '../../db/connect.ts';
import { readEventNames } from '../../db/models/event-counts.ts';
import { statement } from '../../db/statement.ts';
import { openCursor, type SigningKeys, signCursor } from '../../platform/cursor.ts';
import { findContact } from '../contacts/find.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import { lightenEventCounts } from './counts.ts';
import { ALL_NAMES } from './names.ts';
import {
  type EventRow,
  newestEvents,
  newestEventsOfContact,
  newestEventsOfName,
  type Place,
  type Stretch,
} from './newest.ts';
import { eventTypes } from './types.ts';

export interface EventRecord {
  id: string;
  name: string;
  data: Record<string, unknown>;
  contactId: string;
  emailId: string | null;
  createdAt: Date;
}

export interface EventsQuery {
  limit: number;
  cursor?: string | undefined;
}

/** The newest first; all of them, or those of a name. */
export async function listEvents(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  { eventName, ...query }: EventsQuery & { eventName?: string | undefined },
): Promise<CursorPage<EventRecord>> {
  return page(keys, [projectId, 'events', eventName ?? ''], query, {
    rows: (stretch) =>
      eventName === undefined
        ? newestEvents(db, projectId, eventTypes, stretch)
        : newestEventsOfName(db, projectId, eventName, stretch),
    total: () => countKept(db, projectId, eventName),
  });
}

const countOfContact = statement<{ count: string }>(
  'events-count-of-contact',
  'select count(*) as count from events where project_id = $1 and contact_id = $2',
);

export async function listEventsOfContact(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  contactId: string,
  query: EventsQuery,
): Promise<CursorPage<EventRecord>> {
  const { id } = await findContact(db, projectId, contactId);
  return page(keys, [projectId, 'events-of-contact', id], query, {
    rows: (stretch) => newestEventsOfContact(db, projectId, id, stretch),
    total: async () => Number((await countOfContact(db, [projectId, id]))[0]?.count ?? 0),
  });
}

async function countKept(db: Db, projectId: string, name: string | undefined): Promise<number> {
  const { names, pending } = await readEventNames(db, projectId, { name, limit: ALL_NAMES });
  await lightenEventCounts(db, projectId, pending);
  return names.reduce((sum, { kept }) => sum + kept, 0);
}

interface Source {
  rows(stretch: Stretch): Promise<EventRow[]>;
  total(): Promise<number>;
}

async function page(
  keys: SigningKeys,
  boundTo: string[],
  { limit, cursor }: EventsQuery,
  { rows, total }: Source,
): Promise<CursorPage<EventRecord>> {
  const before = cursor === undefined ? null : (openCursor(keys, boundTo, cursor) as Place);
  const found = await rows({ before, range: {}, limit: limit + 1 });
  const cut = cutPage(found, {
    limit,
    total: before ? 0 : await total(),
    cursorAfter: ({ at, id }) => signCursor(keys, boundTo, { at, id } satisfies Place),
  });
  return { ...cut, data: cut.data.map(recordOf) };
}

const recordOf = ({ id, name, data, contact_id, email_id, created_at }: EventRow): EventRecord => ({
  id,
  name,
  data,
  contactId: contact_id,
  emailId: email_id,
  createdAt: created_at,
});
