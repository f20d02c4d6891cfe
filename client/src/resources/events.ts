import type { Event, EventNameCatalog, TrackEventRequest, TrackedEvent, TrackRequest } from '../api-types.ts';
import { items } from '../pages.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions, QueryOf } from '../types.ts';

/** Events of contacts. They start workflows and are part of conditions. */
export const events = (client: RawClient) => ({
  /** Records an event of the contact with an address, who is created if needed. Needs the public key. */
  track: async (event: TrackRequest, options?: CallOptions): Promise<TrackedEvent> =>
    (await client.post('/v1/track', { ...options, body: event })).data,

  /** Records an event with the secret key, also of a contact by ID. */
  record: (event: TrackEventRequest, options?: CallOptions): Promise<TrackedEvent> =>
    client.post('/events/track', { ...options, body: event }),

  /** Lists events, newest first. */
  list: (query?: QueryOf<'/events'>, options?: CallOptions): AsyncGenerator<Event, void> =>
    items(client, '/events', { ...options, query }),

  /** Lists the names of all events. */
  names: (options?: CallOptions): Promise<EventNameCatalog> => client.get('/events/names', options),
});
