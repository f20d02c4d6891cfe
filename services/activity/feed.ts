import type { Db } from '../../db/connect.ts';
import { Contact } from '../../db/models/contact.ts';
import { openCursor, type SigningKeys, signCursor } from '../../platform/cursor.ts';
import type { Place } from '../events/newest.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import { type Range, type RangeQuery, readRange } from '../range.ts';
import { campaignsSource } from './campaigns-source.ts';
import { eventsSource } from './events-source.ts';
import { executionsSource } from './executions-source.ts';
import type { ActivitySource, Found, Wanted } from './source.ts';
import { type ActivityItem, type ActivityType, activityTypes } from './types.ts';

export interface FeedQuery extends RangeQuery {
  limit: number;
  cursor?: string | undefined;
  types?: ActivityType[] | undefined;
  contactId?: string | undefined;
}

const sources: ActivitySource[] = [eventsSource, executionsSource, campaignsSource];

/** A place in the merged feed. */
type FeedPlace = Place & { type: ActivityType };

/**
 * Whatever has happened, the newest first. Each source gives as many of its own as a page has, from an index; what is
 * merged and cut from these is the page, however large the tables are.
 */
export async function listActivity(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  { limit, cursor, types = [...activityTypes], contactId, ...query }: FeedQuery,
): Promise<CursorPage<ActivityItem>> {
  const range = readRange(query);
  const boundTo = [projectId, 'activity', types.join(), contactId ?? '', query.startDate ?? '', query.endDate ?? ''];
  const before = cursor === undefined ? null : (openCursor(keys, boundTo, cursor) as FeedPlace);
  const asked = sourcesOf({ projectId, types, contactId });
  // One more than the page has, to know whether there is another; and one that may come twice.
  const stretch = { before, range, limit: limit + 2 };
  const found = await Promise.all(asked.map(({ source, wanted }) => source.newest(db, wanted, stretch)));
  const rows = found
    .flat()
    .filter((one) => !before || newestFirst(placeOf(one), before) > 0)
    .sort((one, other) => newestFirst(placeOf(one), placeOf(other)));
  const total = before ? 0 : await countActivity(db, { projectId, types, contactId }, range);
  const page = cutPage(rows.slice(0, limit + 1), {
    limit,
    total,
    cursorAfter: (last) => signCursor(keys, boundTo, placeOf(last)),
  });
  return { ...page, data: await withAddresses(db, projectId, page.data) };
}

/** How many items the feed has within a range. */
export async function countActivity(db: Db, wanted: Wanted, range: Partial<Range>): Promise<number> {
  const counted = await Promise.all(sourcesOf(wanted).map(({ source, wanted }) => source.count(db, wanted, range)));
  return counted.reduce((sum, count) => sum + count, 0);
}

/** Those that have something of what is wanted, with their part of it. */
const sourcesOf = (wanted: Wanted): { source: ActivitySource; wanted: Wanted }[] =>
  sources.flatMap((source) => {
    const types = source.types.filter((type) => wanted.types.includes(type));
    return types.length > 0 ? [{ source, wanted: { ...wanted, types } }] : [];
  });

const placeOf = ({ place, item }: Found): FeedPlace => ({ ...place, type: item.type });

function newestFirst(one: FeedPlace, other: FeedPlace): number {
  if (one.at !== other.at) return BigInt(one.at) > BigInt(other.at) ? -1 : 1;
  if (one.id !== other.id) return one.id > other.id ? -1 : 1;
  // What happens later to the same thing stands later in the list of types.
  return activityTypes.indexOf(other.type) - activityTypes.indexOf(one.type);
}

/** Nobody's where the contact has been deleted. */
async function withAddresses(db: Db, projectId: string, found: Found[]): Promise<ActivityItem[]> {
  const ids = [...new Set(found.flatMap(({ item: { contactId } }) => contactId ?? []))];
  const contacts =
    ids.length > 0 ? await Contact.query(db).where({ projectId }).whereIn('id', ids).select('id', 'email') : [];
  const emails = new Map(contacts.map(({ id, email }) => [id, email]));
  return found.map(({ item }) => ({
    ...item,
    contactEmail: item.contactId === null ? null : (emails.get(item.contactId) ?? null),
  }));
}
