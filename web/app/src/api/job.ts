import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { unwrap } from './client.ts';
import { useApi } from './hooks.ts';
import { useLive } from './live.ts';
import type { Job } from './types.ts';

export const isOpen = (job: Pick<Job, 'status'> | undefined): boolean =>
  job !== undefined && (job.status === 'QUEUED' || job.status === 'RUNNING');

const paths = { import: '/contacts/import/{jobId}', bulk: '/contacts/bulk/{jobId}', any: '/jobs/{jobId}' } as const;

/** Follows a job until it ends, live; `contacts/import` and `contacts/bulk` show jobs of their own types only. */
export function useJob(jobId: string | undefined, kind: keyof typeof paths): UseQueryResult<Job> {
  const { client, key } = useApi();
  const cache = useQueryClient();
  const queryKey = key('job', jobId);
  const query = useQuery<Job>({
    queryKey,
    queryFn: () => unwrap(client.GET(paths[kind], { params: { path: { jobId: jobId ?? '' } } })),
    enabled: jobId !== undefined,
    // The stream is live; reading now and then covers one that broke.
    refetchInterval: ({ state }) => (isOpen(state.data) ? 5_000 : false),
  });
  useLive([`job:${jobId}`], ({ data }) => cache.setQueryData(queryKey, data), isOpen(query.data));
  return query;
}
