import type { QueryBuilder } from 'objection';
import type { Db } from '../db/connect.ts';
import type { BaseModel } from '../db/models/base.ts';
import { type Fragment, identifier, sql, sqlText } from '../db/sql.ts';
import { queryRows } from '../db/statement.ts';
import { ApiError } from '../platform/errors.ts';

/** A page of a list with cursors. */
export interface CursorPage<T> {
  data: T[];
  /** Names the next page; null on the last one. */
  cursor: string | null;
  hasMore: boolean;
  /** The length of the whole list, on its first page; 0 on the others. */
  total: number;
  /** The list is too long to be counted: `total` is an estimate. */
  totalEstimated?: true;
}

/** Lists are counted up to this length; the length of longer ones is estimated. See docs/decisions/list-totals.md. */
export const MAX_COUNTED = 20_000;

export type ListTotal = Pick<CursorPage<unknown>, 'total' | 'totalEstimated'>;

/** On pages after the first, where the total is not shown again. */
export const UNCOUNTED: ListTotal = { total: 0 };

/** Returns how many rows a query has, in a time that does not grow with them. `list` selects them without an order. */
export async function countList(db: Db, list: Fragment, maxCounted = MAX_COUNTED): Promise<ListTotal> {
  const limit = sqlText(String(maxCounted + 1));
  const [counted] = await queryRows<{ count: number }>(
    db,
    sql`select count(*)::integer as count from (${list} limit ${limit}) counted`,
  );
  const count = counted?.count ?? 0;
  if (count <= maxCounted) return { total: count };
  const [explained] = await queryRows<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(
    db,
    sql`explain (format json) ${list}`,
  );
  return { total: Math.max(count, explained?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0), totalEstimated: true };
}

/** Cuts a page from rows that were read with a limit of one more than the page has. */
export function cutPage<T>(
  rows: T[],
  { limit, cursorAfter, ...total }: ListTotal & { limit: number; cursorAfter: (last: T) => string },
): CursorPage<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  const hasMore = rows.length > limit;
  return { data, cursor: hasMore && last !== undefined ? cursorAfter(last) : null, hasMore, ...total };
}

/** A page of a list with page numbers. */
export interface OffsetPage<T> {
  data: T[];
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
}

/** Limits the bodies in one response: a hundred of the largest would not fit into the memory of a process. */
const MAX_PAGE_BYTES = 64 * 1024 * 1024;

/** Rejects a page whose bodies are too large together, before reading any of them. */
export async function requireSmallPage<M extends BaseModel & { id: string }>(
  db: Db,
  projectId: string,
  list: QueryBuilder<M, M[]>,
  { page, pageSize }: { page: number; pageSize: number },
  maxBytes = MAX_PAGE_BYTES,
): Promise<void> {
  const ids = await list
    .clone()
    .clearSelect()
    .select('id')
    .limit(pageSize)
    .offset((page - 1) * pageSize);
  const [sum] = await queryRows<{ bytes: number }>(
    db,
    sql`select coalesce(sum(octet_length(body)), 0)::float8 as bytes from ${identifier(list.modelClass().tableName)}
        where project_id = ${projectId} and id = any (${ids.map(({ id }) => id)}::uuid[])`,
  );
  if (sum && sum.bytes > maxBytes)
    throw new ApiError(413, 'PAYLOAD_TOO_LARGE', `The bodies on this page exceed ${maxBytes} bytes in total.`, {
      suggestion: 'Request fewer items with "pageSize".',
    });
}
