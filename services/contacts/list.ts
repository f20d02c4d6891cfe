import type { Db } from '../../db/connect.ts';
import { type ContactRecord, contactRecord } from '../../db/models/contact.ts';
import { openCursor, type SigningKeys, signCursor } from '../../platform/cursor.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import { countContacts } from './counts.ts';
import {
  type ContactFilter,
  countMatching,
  type ListOrder,
  type PageQuery,
  type PageRow,
  type Place,
  pageByWalk,
  pageOfFew,
} from './list-query.ts';

export interface ContactsQuery extends ListOrder {
  limit: number;
  cursor?: string | undefined;
  search?: string | undefined;
  subscribed?: boolean | undefined;
  data?: Record<string, string> | undefined;
}

/** What a cursor says. `few` is what the first page found out about the filter, so that no other has to count. */
interface CursorPlace extends Place {
  few: boolean;
}

/** So many contacts are found by their indexes and sorted in a few milliseconds. */
const FEW = 5_000;

export async function listContacts(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  query: ContactsQuery,
): Promise<CursorPage<ContactRecord>> {
  const { limit, sort, dir } = query;
  const filter = filterOf(query);
  const boundTo = [projectId, 'contacts', sort, dir];
  const after = query.cursor === undefined ? undefined : (openCursor(keys, boundTo, query.cursor) as CursorPlace);
  const total = after ? 0 : await totalOf(db, projectId, filter);
  const few = after ? after.few : total <= FEW;
  const rows = await pageOf(db, { projectId, filter, order: { sort, dir }, after, limit: limit + 1 }, few);
  const page = cutPage(rows, {
    limit,
    total,
    cursorAfter: ({ place: by, id }) => signCursor(keys, boundTo, { by, id, few } satisfies CursorPlace),
  });
  return { ...page, data: page.data.map(contactRecord) };
}

function filterOf({ search, subscribed, data }: ContactsQuery): ContactFilter {
  // Addresses are kept in lower case.
  return { search: search?.toLowerCase(), subscribed, data: Object.entries(data ?? {}) };
}

const isSearch = ({ search, data }: ContactFilter): boolean => Boolean(search) || data.length > 0;

const totalOf = (db: Db, projectId: string, filter: ContactFilter): Promise<number> =>
  isSearch(filter) ? countMatching(db, projectId, filter) : countContacts(db, projectId, filter);

async function pageOf(db: Db, query: PageQuery, few: boolean): Promise<PageRow[]> {
  const { filter, order, limit } = query;
  const needsNoSearch = !isSearch(filter) && (order.sort === 'createdAt' || filter.subscribed === undefined);
  if (few && !needsNoSearch) return pageOfFew(db, query);
  const rows = await pageByWalk(db, query);
  return needsNoSearch || rows.length === limit ? rows : pageOfFew(db, query);
}
