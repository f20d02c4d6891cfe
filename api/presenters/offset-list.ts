import type { OffsetPage } from '../../services/paging.ts';
import { list, listType, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';

const count = () => wholeNumber({ min: 0 });

export const offsetListSchema = (item: Typed<unknown>) =>
  listType(item, 'Page', {
    data: list(item).description('The items of this page.'),
    total: count().description('Number of items on all pages.'),
    page: count().description('Number of this page, from 1.'),
    pageSize: count().description('Most items on a page.'),
    totalPages: count().description('Number of pages.'),
  });

export const presentOffsetList = <T>({ data, ...page }: OffsetPage<T>, present: (item: T) => unknown) => ({
  data: data.map(present),
  ...page,
});
