import type { SuppressAddressRequest, Suppression } from '../api-types.ts';
import { items } from '../pages.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions, QueryOf } from '../types.ts';

/** Addresses that receive no email. */
export const suppressions = (client: RawClient) => ({
  create: (suppression: SuppressAddressRequest, options?: CallOptions): Promise<Suppression> =>
    client.post('/suppressions', { ...options, body: suppression }),

  list: (query?: QueryOf<'/suppressions'>, options?: CallOptions): AsyncGenerator<Suppression, void> =>
    items(client, '/suppressions', { ...options, query }),

  /** Lets an address receive email again. */
  delete: (email: string, options?: CallOptions): Promise<undefined> =>
    client.delete('/suppressions/{email}', { ...options, path: { email } }),
});
