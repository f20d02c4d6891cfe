import type { Domain } from '../api-types.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions } from '../types.ts';

/** Domains that email is sent from. */
export const domains = (client: RawClient) => ({
  /** Adds a domain. Publish its `records` in the DNS, then call `verify`. */
  create: (domain: string, options?: CallOptions): Promise<Domain> =>
    client.post('/domains', { ...options, body: { domain } }),

  list: (projectId: string, options?: CallOptions): Promise<Domain[]> =>
    client.get('/domains/project/{projectId}', { ...options, path: { projectId } }),

  /** Looks up the DNS records and returns the domain with its state. */
  verify: (id: string, options?: CallOptions): Promise<Domain> =>
    client.get('/domains/{id}/verify', { ...options, path: { id } }),

  delete: (id: string, options?: CallOptions): Promise<undefined> =>
    client.delete('/domains/{id}', { ...options, path: { id } }),
});
