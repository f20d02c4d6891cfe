/** A page of a list that is walked with cursors. */
export interface CursorPage<T> {
  data: T[];
  /** Leads to the next page; null on the last one. */
  cursor: string | null;
  hasMore: boolean;
  /** Of the whole list, on its first page; 0 on the others. */
  total: number;
}

/** Cuts a page from rows of which one more was asked for than the page shall have. */
export function cutPage<T>(
  rows: T[],
  { limit, total, cursorAfter }: { limit: number; total: number; cursorAfter: (last: T) => string },
): CursorPage<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  const hasMore = rows.length > limit;
  return { data, cursor: hasMore && last !== undefined ? cursorAfter(last) : null, hasMore, total };
}

/** A page of a list that is walked by numbers. */
export interface OffsetPage<T> {
  data: T[];
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
}
