import type { Db } from '../../db/connect.ts';
import { readEventHours, readEventNames } from '../../db/models/event-counts.ts';
import { statement } from '../../db/statement.ts';
import { ALL_NAMES } from '../events/names.ts';
import { type EventRow, newestEvents, newestEventsOfContact } from '../events/newest.ts';
import { type ShownType, shownTypeOf, shownTypes } from '../events/types.ts';
import { type Range, splitHours } from '../range.ts';
import type { ActivityFilter, ActivitySource, FeedEntry } from './source.ts';

/** Tracked events, changes of subscription and everything that happens to mails: all are recorded as events. */
export const eventsSource: ActivitySource = {
  types: shownTypes,
  async newest(db, { projectId, types, contactId }, page) {
    const rows = contactId
      ? await newestEventsOfContact(db, projectId, contactId, page, types)
      : await newestEvents(db, projectId, types, page);
    return rows.map(entryOf);
  },
  count: (db, filter, range) =>
    filter.contactId
      ? countOfContact(db, filter, range)
      : range.from || range.to
        ? countWithin(db, filter, range)
        : countAll(db, filter),
};

const entryOf = ({ id, at, type, createdAt, contactId, name, data }: EventRow): FeedEntry => ({
  key: { at, id },
  item: {
    id,
    type: type as ShownType,
    timestamp: createdAt,
    contactId,
    metadata: type === 'event.triggered' ? { eventName: name, data } : data,
  },
});

const countContact = statement<{ count: string }>(
  'activity-count-of-contact',
  `select count(*) as count from events where project_id = $1 and contact_id = $2
     and activity_type(name, data) = any ($3::text[]) and created_at >= $4::timestamptz and created_at < $5::timestamptz`,
);

async function countOfContact(
  db: Db,
  { projectId, types, contactId }: ActivityFilter,
  range: Partial<Range>,
): Promise<number> {
  const values = [projectId, contactId, types, range.from ?? '-infinity', range.to ?? 'infinity'];
  const [row] = await countContact(db, values);
  return Number(row?.count ?? 0);
}

async function countAll(db: Db, { projectId, types }: ActivityFilter): Promise<number> {
  const { names } = await readEventNames(db, projectId, { limit: ALL_NAMES });
  return sum(names, types);
}

const countRaw = statement<{ count: string }>(
  'activity-count-events-raw',
  `select count(*) as count from events where project_id = $1 and activity_type(name, data) = any ($2::text[])
     and created_at >= $3::timestamptz and created_at < $4::timestamptz`,
);

async function countWithin(db: Db, { projectId, types }: ActivityFilter, range: Partial<Range>): Promise<number> {
  const { hours, ends } = splitHours(range);
  let count = sum(await readEventHours(db, projectId, hours), types);
  for (const { from, to } of ends) count += Number((await countRaw(db, [projectId, types, from, to]))[0]?.count ?? 0);
  return count;
}

const sum = (names: { name: string; inFeed: number }[], types: ActivityFilter['types']): number =>
  names.reduce((total, { name, inFeed }) => (types.includes(shownTypeOf(name)) ? total + inFeed : total), 0);
