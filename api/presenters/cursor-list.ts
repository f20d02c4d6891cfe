import type { CursorPage } from '../../services/paging.ts';
import { flag, list, listType, nullable, optional, text, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';

export const cursorListSchema = (item: Typed<unknown>) =>
  listType(item, 'List', {
    data: list(item).description('The items of this page.'),
    cursor: nullable(text()).description('Cursor of the next page; null on the last one.'),
    hasMore: flag().description('Whether there is a next page.'),
    total: wholeNumber({ min: 0 }).description('Number of items on all pages; 0 if not counted.'),
    totalEstimated: optional(flag()).description('Set when `total` is an estimate.'),
  });

export const presentCursorList = <T>(
  { data, cursor, hasMore, total, totalEstimated }: CursorPage<T>,
  present: (item: T) => unknown,
) => ({
  data: data.map(present),
  cursor,
  hasMore,
  total,
  ...(totalEstimated && { totalEstimated }),
});
