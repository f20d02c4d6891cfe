import type {
  AddSegmentMembersRequest,
  Condition,
  Contact,
  CreateSegmentRequest,
  RemoveSegmentMembersRequest,
  Segment,
  SegmentMemberAddition,
  SegmentMemberRemoval,
  SegmentPreview,
  UpdateSegmentRequest,
} from '../api-types.ts';
import { items } from '../pages.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions, QueryOf } from '../types.ts';

/** Groups of contacts. */
export const segments = (client: RawClient) => ({
  create: (segment: CreateSegmentRequest, options?: CallOptions): Promise<Segment> =>
    client.post('/segments', { ...options, body: segment }),

  list: (options?: CallOptions): Promise<Segment[]> => client.get('/segments', options),

  get: (id: string, options?: CallOptions): Promise<Segment> =>
    client.get('/segments/{id}', { ...options, path: { id } }),

  update: (id: string, changes: UpdateSegmentRequest, options?: CallOptions): Promise<Segment> =>
    client.patch('/segments/{id}', { ...options, path: { id }, body: changes }),

  delete: (id: string, options?: CallOptions): Promise<undefined> =>
    client.delete('/segments/{id}', { ...options, path: { id } }),

  /** Counts the contacts that match a condition, and returns some of them. */
  preview: (condition: Condition, options?: CallOptions): Promise<SegmentPreview> =>
    client.post('/segments/preview', { ...options, body: { condition } }),

  /** Lists the members of a segment. */
  contacts: (
    id: string,
    query?: QueryOf<'/segments/{id}/contacts'>,
    options?: CallOptions,
  ): AsyncGenerator<Contact, void> => items(client, '/segments/{id}/contacts', { ...options, path: { id }, query }),

  /** Adds contacts to a static segment. */
  addMembers: (id: string, members: AddSegmentMembersRequest, options?: CallOptions): Promise<SegmentMemberAddition> =>
    client.post('/segments/{id}/members', { ...options, path: { id }, body: members }),

  /** Removes contacts from a static segment. */
  removeMembers: (
    id: string,
    members: RemoveSegmentMembersRequest,
    options?: CallOptions,
  ): Promise<SegmentMemberRemoval> =>
    client.delete('/segments/{id}/members', { ...options, path: { id }, body: members }),
});
