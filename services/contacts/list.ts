import type { Db } from '../../db/connect.ts';
import { type ContactRecord, contactRecord } from '../../db/models/contact.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { projectContacts, scopeOf } from '../conditions/scope.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import { countContacts } from './counts.ts';
import {
  type ContactFilter,
  type ContactPageQuery,
  countMatches,
  type ListOrder,
  type PageRow,
  pageByIndex,
  pageByScan,
  type RowKey,
} from './list-query.ts';

export interface ContactsQuery extends ListOrder {
  limit: number;
  cursor?: string | undefined;
  search?: string | undefined;
  query?: string | undefined;
  importId?: string | undefined;
  subscribed?: boolean | undefined;
  data?: Record<string, string> | undefined;
  topic?: Pick<NonNullable<ContactFilter['topic']>, 'id' | 'state'> | undefined;
}

/** The content of a cursor. `few`: the first page found few matches; later pages need not count. */
interface CursorContent extends RowKey {
  few: boolean;
}

/** Up to this many matches are found by index and sorted within a few milliseconds. */
const FEW = 5_000;

export async function listContacts(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  query: ContactsQuery,
): Promise<CursorPage<ContactRecord>> {
  const { limit, sort, dir } = query;
  const boundTo = [projectId, 'contacts', sort, dir];
  const after = query.cursor === undefined ? undefined : (openCursor(keys, boundTo, query.cursor) as CursorContent);
  const filter = filterOf(projectId, query);
  const scope = isSearch(filter) ? await scopeOf(db, projectId, filter) : projectContacts(projectId);
  const pageQuery = { projectId, scope, filter, order: { sort, dir }, after, limit: limit + 1 };
  const { rows, total, few } = after ? await nextPage(db, pageQuery, after) : await firstPage(db, pageQuery);
  const page = cutPage(rows, {
    limit,
    total,
    cursorAfter: ({ sortKey: by, id }) => signCursor(keys, boundTo, { by, id, few } satisfies CursorContent),
  });
  return { ...page, data: page.data.map(contactRecord) };
}

interface Found {
  rows: PageRow[];
  total: number;
  few: boolean;
}

async function firstPage(db: Db, query: ContactPageQuery): Promise<Found> {
  const { projectId, filter } = query;
  if (!isSearch(filter)) {
    const total = await countContacts(db, projectId, filter);
    const few = total <= FEW;
    return { rows: await pageOf(db, query, few), total, few };
  }
  const rows = await pageByIndex(db, query, FEW + 1);
  const found = rows[0]?.found ?? 0;
  if (found <= FEW) return { rows, total: found, few: true };
  return { rows: await pageOf(db, query, false), total: await countMatches(db, query), few: false };
}

async function nextPage(db: Db, query: ContactPageQuery, { few }: CursorContent): Promise<Found> {
  return { rows: await pageOf(db, query, few), total: 0, few };
}

function filterOf(
  projectId: string,
  { search, query, importId, subscribed, data, topic }: ContactsQuery,
): ContactFilter {
  // Addresses are stored in lower case.
  return {
    search: search?.toLowerCase(),
    query: query?.trim().toLowerCase(),
    imported: importId === undefined ? undefined : { projectId, jobId: importId },
    subscribed,
    data: Object.entries(data ?? {}),
    topic: topic && { projectId, ...topic },
  };
}

const isSearch = ({ search, query, imported, data, topic }: ContactFilter): boolean =>
  Boolean(search || query || imported || topic) || data.length > 0;

async function pageOf(db: Db, query: ContactPageQuery, few: boolean): Promise<PageRow[]> {
  const { filter, order, limit } = query;
  const isOrderIndexed = !isSearch(filter) && (order.sort === 'createdAt' || filter.subscribed === undefined);
  if (few && !isOrderIndexed) return pageByIndex(db, query);
  const rows = await pageByScan(db, query);
  return isOrderIndexed || rows.length === limit ? rows : pageByIndex(db, query);
}
