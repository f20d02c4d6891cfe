import type { RawClient } from './raw-client.ts';
import type { AnswerOf, Arguments, OperationOf, OptionsOf, PathOf } from './types.ts';

/** The paths whose GET answers with a list in `data`. */
export type ListPath = {
  [P in PathOf<'get'>]: AnswerOf<OperationOf<P, 'get'>> extends { data: unknown[] } ? P : never;
}[PathOf<'get'>];

type PageOf<P extends ListPath> = AnswerOf<OperationOf<P, 'get'>>;
type ItemOf<P extends ListPath> = PageOf<P> extends { data: (infer Item)[] } ? Item : never;

/** Both kinds of lists: by cursor and by number. */
interface AnyPage {
  data: unknown[];
  cursor?: string | null;
  hasMore?: boolean;
  page?: number;
  totalPages?: number;
}

/** Reads a list page by page. */
export async function* pages<P extends ListPath>(
  client: RawClient,
  path: P,
  ...[options]: Arguments<OptionsOf<OperationOf<P, 'get'>>>
): AsyncGenerator<PageOf<P>, void> {
  const get = client.get as unknown as (path: string, options: object) => Promise<AnyPage>;
  const { query, ...rest } = (options ?? {}) as { query?: object };
  for (let next: object | undefined = {}; next; ) {
    const page: AnyPage = await get(path, { ...rest, query: { ...query, ...next } });
    yield page as PageOf<P>;
    next = following(page);
  }
}

/** Reads the items of a list, page after page. */
export async function* items<P extends ListPath>(
  client: RawClient,
  path: P,
  ...options: Arguments<OptionsOf<OperationOf<P, 'get'>>>
): AsyncGenerator<ItemOf<P>, void> {
  for await (const { data } of pages(client, path, ...options) as AsyncGenerator<AnyPage>) yield* data as ItemOf<P>[];
}

function following({ cursor, hasMore, page, totalPages }: AnyPage): object | undefined {
  if (hasMore && cursor) return { cursor };
  return page !== undefined && totalPages !== undefined && page < totalPages ? { page: page + 1 } : undefined;
}
