import type { Job } from '../api-types.ts';
import { items } from '../pages.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions, QueryOf } from '../types.ts';

/** Imports and bulk changes. */
export const jobs = (client: RawClient) => ({
  get: (jobId: string, options?: CallOptions): Promise<Job> =>
    client.get('/jobs/{jobId}', { ...options, path: { jobId } }),

  list: (query?: QueryOf<'/jobs'>, options?: CallOptions): AsyncGenerator<Job, void> =>
    items(client, '/jobs', { ...options, query }),

  cancel: (jobId: string, options?: CallOptions): Promise<Job> =>
    client.post('/contacts/jobs/{jobId}/cancel', { ...options, path: { jobId } }),
});
