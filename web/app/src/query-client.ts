import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiProblem } from './api/problem.ts';

/** The server says so when the browser has no session: asking it would be a request that fails. */
export const session = { absent: document.documentElement.hasAttribute('data-signed-out') };

/** Called when a session has ended; the router sets it. */
export const onSessionEnd = { call: (): void => {} };

const isFinal = (error: unknown): boolean => error instanceof ApiProblem && error.status >= 400 && error.status < 500;

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (error instanceof ApiProblem && error.status === 401) onSessionEnd.call();
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // The API's refusal stays a refusal; only outages are tried again.
      retry: (failures, error) => !isFinal(error) && failures < 2,
      refetchIntervalInBackground: false,
      // Requests fail while the browser is offline, instead of waiting without a word.
      networkMode: 'always',
      // Off by default with this mode.
      refetchOnReconnect: true,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
