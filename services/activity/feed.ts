import type { Db } from '../../db/connect.ts';
import { Contact } from '../../db/models/contact.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import type { TimeKey } from '../events/newest.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import { type Range, type RangeQuery, readRange } from '../range.ts';
import { campaignsSource } from './campaigns-source.ts';
import { eventsSource } from './events-source.ts';
import { executionsSource } from './executions-source.ts';
import type { ActivityFilter, ActivitySource, FeedEntry } from './source.ts';
import { type ActivityItem, type ActivityType, activityTypes } from './types.ts';

export interface FeedQuery extends RangeQuery {
  limit: number;
  cursor?: string | undefined;
  types?: ActivityType[] | undefined;
  contactId?: string | undefined;
}

const sources: ActivitySource[] = [eventsSource, executionsSource, campaignsSource];

/** The sort key of the merged feed, and the content of its cursor. */
type FeedKey = TimeKey & { type: ActivityType };

/**
 * Returns the activity of a project, the newest first. Each source returns a page of its own items from an index; the page
 * is merged and cut from these, so the cost does not depend on the size of the tables.
 */
export async function listActivity(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  { limit, cursor, types = [...activityTypes], contactId, ...query }: FeedQuery,
): Promise<CursorPage<ActivityItem>> {
  const range = readRange(query);
  const boundTo = [projectId, 'activity', types.join(), contactId ?? '', query.startDate ?? '', query.endDate ?? ''];
  const before = cursor === undefined ? null : (openCursor(keys, boundTo, cursor) as FeedKey);
  const filter = { projectId, types, contactId };
  // One more row shows whether there is another page; a source may also return the row at `before` again.
  const timePage = { before, range, limit: limit + 2 };
  const entries = await Promise.all(sourcesOf(filter).map(({ source, filter }) => source.newest(db, filter, timePage)));
  const rows = entries
    .flat()
    .filter((entry) => !before || compareNewestFirst(feedKeyOf(entry), before) > 0)
    .sort((one, other) => compareNewestFirst(feedKeyOf(one), feedKeyOf(other)));
  const total = before ? 0 : await countActivity(db, filter, range);
  const page = cutPage(rows.slice(0, limit + 1), {
    limit,
    total,
    cursorAfter: (last) => signCursor(keys, boundTo, feedKeyOf(last)),
  });
  return { ...page, data: await withAddresses(db, projectId, page.data) };
}

/** Counts the items of the feed within a range. */
export async function countActivity(db: Db, filter: ActivityFilter, range: Partial<Range>): Promise<number> {
  const counts = await Promise.all(sourcesOf(filter).map(({ source, filter }) => source.count(db, filter, range)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Returns the sources that have items of the wanted types, each with its part of the filter. */
const sourcesOf = (filter: ActivityFilter): { source: ActivitySource; filter: ActivityFilter }[] =>
  sources.flatMap((source) => {
    const types = source.types.filter((type) => filter.types.includes(type));
    return types.length > 0 ? [{ source, filter: { ...filter, types } }] : [];
  });

const feedKeyOf = ({ key, item }: FeedEntry): FeedKey => ({ ...key, type: item.type });

function compareNewestFirst(one: FeedKey, other: FeedKey): number {
  if (one.at !== other.at) return BigInt(one.at) > BigInt(other.at) ? -1 : 1;
  if (one.id !== other.id) return one.id > other.id ? -1 : 1;
  // The list of types is in the order in which they happen to one campaign or execution.
  return activityTypes.indexOf(other.type) - activityTypes.indexOf(one.type);
}

/** Adds the addresses of the contacts; null for a deleted contact. */
async function withAddresses(db: Db, projectId: string, entries: FeedEntry[]): Promise<ActivityItem[]> {
  const ids = [...new Set(entries.flatMap(({ item: { contactId } }) => contactId ?? []))];
  const contacts =
    ids.length > 0 ? await Contact.query(db).where({ projectId }).whereIn('id', ids).select('id', 'email') : [];
  const emails = new Map(contacts.map(({ id, email }) => [id, email]));
  return entries.map(({ item }) => ({
    ...item,
    contactEmail: item.contactId === null ? null : (emails.get(item.contactId) ?? null),
  }));
}
