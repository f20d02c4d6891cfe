import type { OffsetPage } from '../../services/paging.ts';
import { nameOf } from '../http/json-schema.ts';
import { list, namedType, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';

const count = () => wholeNumber({ min: 0 });

/** A page of named items; its name is theirs with `List`. */
export const offsetListSchema = (item: Typed<unknown>) =>
  namedType(`${nameOf(item)}List`, 'One page of a list.', {
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
