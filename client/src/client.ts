import { type ClientOptions, createRawClient, type RawClient } from './raw-client.ts';
import { type Resources, resources } from './resources/index.ts';

export type EverpostClient = RawClient & Resources;

/**
 * Creates a client: `everpost.emails.send(…)`, `everpost.contacts.list()`. What has no method is called by its path:
 * `everpost.get('/activity')`.
 */
export function createClient(options: ClientOptions): EverpostClient {
  const client = createRawClient(options);
  return { ...client, ...resources(client) };
}
