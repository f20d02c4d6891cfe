import type { Db } from '../../db/connect.ts';
import { readEventHours, readEventNames } from '../../db/models/event-counts.ts';
import { statement } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { findContact } from '../contacts/find.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import { type Range, type RangeQuery, readRange, splitHours } from '../range.ts';
import { aggregateEventBacklog } from './counts.ts';
import { ALL_NAMES } from './names.ts';
import {
  type EventRow,
  newestEvents,
  newestEventsOfContact,
  newestEventsOfName,
  type TimeKey,
  type TimePage,
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

export interface EventsQuery extends RangeQuery {
  limit: number;
  cursor?: string | undefined;
}

/** Returns the newest events first, all of them or those of a name. */
export async function listEvents(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  { eventName, ...query }: EventsQuery & { eventName?: string | undefined },
): Promise<CursorPage<EventRecord>> {
  return page(keys, [projectId, 'events', eventName ?? ''], query, {
    rows: (timePage) =>
      eventName === undefined
        ? newestEvents(db, projectId, eventTypes, timePage)
        : newestEventsOfName(db, projectId, eventName, timePage),
    total: ({ from, to }) =>
      from || to ? countWithin(db, projectId, eventName, { from, to }) : countRetained(db, projectId, eventName),
  });
}

const countOfContact = statement<{ count: string }>(
  'events-count-of-contact',
  `select count(*) as count from events where project_id = $1 and contact_id = $2
     and created_at >= $3::timestamptz and created_at < $4::timestamptz`,
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
    rows: (timePage) => newestEventsOfContact(db, projectId, id, timePage),
    total: async ({ from, to }) =>
      Number((await countOfContact(db, [projectId, id, from ?? '-infinity', to ?? 'infinity']))[0]?.count ?? 0),
  });
}

async function countRetained(db: Db, projectId: string, name: string | undefined): Promise<number> {
  const { names, pending } = await readEventNames(db, projectId, { name, limit: ALL_NAMES });
  await aggregateEventBacklog(db, projectId, pending);
  return names.reduce((sum, { retained }) => sum + retained, 0);
}

const countRaw = statement<{ count: string }>(
  'events-count-raw',
  `select count(*) as count from events where project_id = $1 and ($2::text is null or name = $2)
     and created_at >= $3::timestamptz and created_at < $4::timestamptz`,
);

/** Adds the aggregated counts of whole hours and the events at the ends of the range. */
async function countWithin(
  db: Db,
  projectId: string,
  name: string | undefined,
  range: Partial<Range>,
): Promise<number> {
  const { hours, ends } = splitHours(range);
  const counts = await readEventHours(db, projectId, hours);
  let total = counts.reduce((sum, event) => (name === undefined || event.name === name ? sum + event.count : sum), 0);
  for (const { from, to } of ends)
    total += Number((await countRaw(db, [projectId, name ?? null, from, to]))[0]?.count ?? 0);
  return total;
}

interface Source {
  rows(timePage: TimePage): Promise<EventRow[]>;
  total(range: Partial<Range>): Promise<number>;
}

async function page(
  keys: SigningKeys,
  list: string[],
  { limit, cursor, ...query }: EventsQuery,
  { rows, total }: Source,
): Promise<CursorPage<EventRecord>> {
  const range = readRange(query);
  const boundTo = [...list, query.startDate ?? '', query.endDate ?? ''];
  const before = cursor === undefined ? null : (openCursor(keys, boundTo, cursor) as TimeKey);
  const found = await rows({ before, range, limit: limit + 1 });
  const cut = cutPage(found, {
    limit,
    total: before ? 0 : await total(range),
    cursorAfter: ({ at, id }) => signCursor(keys, boundTo, { at, id } satisfies TimeKey),
  });
  return { ...cut, data: cut.data.map(recordOf) };
}

const recordOf = ({ id, name, data, contactId, emailId, createdAt }: EventRow): EventRecord => ({
  id,
  name,
  data,
  contactId,
  emailId,
  createdAt,
});
