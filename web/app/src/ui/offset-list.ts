import type { CursorPage } from '../api/hooks.ts';

interface OffsetPage<T> {
  data: T[];
  page: number;
  totalPages: number;
  total: number;
}

/** Lets lists that the API pages by number load like those with a cursor. */
export const asCursorPage = <T>({ data, page, totalPages, total }: OffsetPage<T>): CursorPage<T> => ({
  data,
  total,
  hasMore: page < totalPages,
  cursor: String(page + 1),
});

export const pageOf = (cursor: string | undefined): number => (cursor === undefined ? 1 : Number(cursor));
