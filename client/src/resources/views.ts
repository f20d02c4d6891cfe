import type { CreateViewRequest, UpdateViewRequest, View } from '../api-types.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions } from '../types.ts';

/** Saved filters and columns of lists. */
export const views = (client: RawClient) => ({
  create: (view: CreateViewRequest, options?: CallOptions): Promise<View> =>
    client.post('/views', { ...options, body: view }),

  list: (options?: CallOptions): Promise<View[]> => client.get('/views', { ...options }),

  update: (id: string, changes: UpdateViewRequest, options?: CallOptions): Promise<View> =>
    client.patch('/views/{id}', { ...options, path: { id }, body: changes }),

  delete: (id: string, options?: CallOptions): Promise<undefined> =>
    client.delete('/views/{id}', { ...options, path: { id } }),
});
