import {
  hashKey,
  type InfiniteData,
  type QueryKey,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { chooseLanguage, type Language } from '../texts/language.ts';
import { showDone, showProblem } from '../ui/notify.ts';
import { type ApiClient, accountApi, projectApi, unwrap } from './client.ts';
import type { Project } from './types.ts';

export interface ProjectApi {
  projectId: string;
  client: ApiClient;
  /** Query keys begin with the project: two projects never share a cached answer. */
  key(...parts: unknown[]): QueryKey;
}

/** The API of the project in the address. */
export function useApi(): ProjectApi {
  const { projectId = '' } = useParams({ strict: false });
  return { projectId, client: projectApi(projectId), key: (...parts) => ['project', projectId, ...parts] };
}

export const meQuery = {
  queryKey: ['me'],
  queryFn: () => unwrap(accountApi.GET('/users/@me')),
  staleTime: 60_000,
};

export const useMe = () => useQuery(meQuery);

export const projectsQuery = {
  queryKey: ['projects'],
  queryFn: () => unwrap(accountApi.GET('/users/@me/projects')),
  staleTime: 60_000,
};

export const useProjects = () => useQuery(projectsQuery);

/** The project of the address; undefined while the list loads. */
export function useProject(): Project | undefined {
  const { projectId } = useApi();
  return useProjects().data?.find(({ id }) => id === projectId);
}

/** What the user's role allows. Pages do not offer the rest, and the API refuses it anyway. */
export function useRights(): { write: boolean; admin: boolean } {
  const role: string | undefined = useProject()?.role;
  return { write: role !== undefined && role !== 'VIEWER', admin: role === 'ADMIN' || role === 'OWNER' };
}

/** Stores the language with the account, and then shows it here; undefined for that of the browser. */
export const useLanguageChoice = () =>
  useAction({
    run: (language: Language | undefined) =>
      unwrap(accountApi.PATCH('/users/@me', { body: { language: language ?? null } })),
    onDone: (_, language) => chooseLanguage(language),
  });

/** Names of custom fields, without the prefix `data.` that the API gives them. */
export function useCustomFields(): string[] {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('contact-fields'),
    queryFn: () => unwrap(client.GET('/contacts/fields')),
    staleTime: 60_000,
  });
  return useMemo(
    () => (data?.fields ?? []).filter(({ isCustom }) => isCustom).map(({ field }) => field.replace(/^data\./, '')),
    [data],
  );
}

export interface CursorPage<T> {
  data: T[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
  /** The list is too long to be counted. */
  totalEstimated?: boolean;
}

export type CursorList<T> = UseInfiniteQueryResult<InfiniteData<CursorPage<T>>>;

/** Reading a list anew reads all its pages: with more than this, only when the user changes something. */
const FEW_PAGES = 4;
const isShort = (data: InfiniteData<unknown> | undefined): boolean => (data?.pages.length ?? 0) <= FEW_PAGES;

/** A list that pages by cursor; `load` gets the cursor of the next page. */
export function useCursorList<T>(
  key: QueryKey,
  load: (cursor: string | undefined) => Promise<CursorPage<T>>,
  { refetchInterval = false, ...options }: { enabled?: boolean; refetchInterval?: number | false } = {},
): CursorList<T> {
  return useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => load(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page.hasMore ? (page.cursor ?? undefined) : undefined),
    refetchOnWindowFocus: ({ state }) => isShort(state.data),
    refetchInterval: ({ state }) => (isShort(state.data) ? refetchInterval : false),
    ...options,
  });
}

export interface ActionOptions<Input, Output> {
  run(input: Input): Promise<Output>;
  /** What the user sees afterwards. */
  done?: (output: Output, input: Input) => string;
  /** Keys of what the action changes. */
  changes?: QueryKey[];
  onDone?: (output: Output, input: Input) => void;
  /** Shows the error itself, at the field that it is about. */
  quiet?: boolean;
}

/** A change through the API: says what it did, or the API's own message. Twice the same at once is one request. */
export function useAction<Input = void, Output = unknown>(options: ActionOptions<Input, Output>) {
  const { run, done, changes = [], onDone, quiet } = options;
  const cache = useQueryClient();
  const mutation = useMutation<Output, Error, Input>({
    mutationFn: run,
    onSuccess: async (output, input) => {
      await Promise.all(changes.map((queryKey) => cache.invalidateQueries({ queryKey })));
      if (done) showDone(done(output, input));
      onDone?.(output, input);
    },
    onError: (error) => {
      if (!quiet) showProblem(error);
    },
  });
  // By input. The state of the mutation changes with the next rendering, which a second click does not wait for.
  const running = useRef(new Map<string, Promise<Output>>());
  const mutateAsync: typeof mutation.mutateAsync = (...call) => {
    const key = hashKey([call[0]]);
    const begun = running.current.get(key);
    if (begun) return begun;
    const begins = mutation.mutateAsync(...call).finally(() => running.current.delete(key));
    running.current.set(key, begins);
    return begins;
  };
  const mutate: typeof mutation.mutate = (...call) => void mutateAsync(...call).catch(() => {});
  return { ...mutation, mutate, mutateAsync };
}
