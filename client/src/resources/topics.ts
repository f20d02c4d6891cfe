import type { CreateTopicRequest, Topic, UpdateTopicRequest } from '../api-types.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions, QueryOf } from '../types.ts';

/** What contacts join and leave on their own. */
export const topics = (client: RawClient) => ({
  create: (topic: CreateTopicRequest, options?: CallOptions): Promise<Topic> =>
    client.post('/topics', { ...options, body: topic }),

  /** Lists the topics by position; with `archived: true` the archived ones. */
  list: (query?: QueryOf<'/topics'>, options?: CallOptions): Promise<Topic[]> =>
    client.get('/topics', { ...options, query }),

  get: (id: string, options?: CallOptions): Promise<Topic> => client.get('/topics/{id}', { ...options, path: { id } }),

  update: (id: string, changes: UpdateTopicRequest, options?: CallOptions): Promise<Topic> =>
    client.patch('/topics/{id}', { ...options, path: { id }, body: changes }),

  /** Deletes a topic with the choices of contacts. Consent records stay. */
  delete: (id: string, options?: CallOptions): Promise<undefined> =>
    client.delete('/topics/{id}', { ...options, path: { id } }),

  /** Orders the topics: `ids` names each that is not archived once. */
  reorder: (ids: string[], options?: CallOptions): Promise<Topic[]> =>
    client.post('/topics/reorder', { ...options, body: { ids } }),
});
