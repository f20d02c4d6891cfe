import type { CursorPage } from '../../services/paging.ts';
import { flag, list, nullable, object, optional, text, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';

export const cursorListSchema = (item: Typed<unknown>) =>
  object({
    data: list(item),
    cursor: nullable(text()),
    hasMore: flag(),
    total: wholeNumber({ min: 0 }),
    totalEstimated: optional(flag()),
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
