import type { OffsetPage } from '../../services/paging.ts';
import { list, object, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';

const count = () => wholeNumber({ min: 0 });

export const offsetListSchema = (item: Typed<unknown>) =>
  object({ data: list(item), total: count(), page: count(), pageSize: count(), totalPages: count() });

export const presentOffsetList = <T>({ data, ...page }: OffsetPage<T>, present: (item: T) => unknown) => ({
  data: data.map(present),
  ...page,
});
