import type {
  ChangeContactTopicsRequest,
  Consent,
  Contact,
  ContactFieldCatalog,
  ContactLookup,
  ContactTopics,
  CreateContactRequest,
  QueuedJob,
  RunBulkActionRequest,
  SavedContact,
  UpdateContactRequest,
} from '../api-types.ts';
import { items } from '../pages.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions, QueryOf } from '../types.ts';

/** People who receive email, with their custom fields. */
export const contacts = (client: RawClient) => ({
  /** Creates a contact, or updates the one with this address. */
  create: (contact: CreateContactRequest, options?: CallOptions): Promise<SavedContact> =>
    client.post('/contacts', { ...options, body: contact }),

  /** Lists contacts: `for await (const contact of everpost.contacts.list())`. */
  list: (query?: QueryOf<'/contacts'>, options?: CallOptions): AsyncGenerator<Contact, void> =>
    items(client, '/contacts', { ...options, query }),

  get: (id: string, options?: CallOptions): Promise<Contact> =>
    client.get('/contacts/{id}', { ...options, path: { id } }),

  /** Changes the address, the subscription or single custom fields. */
  update: (id: string, changes: UpdateContactRequest, options?: CallOptions): Promise<Contact> =>
    client.patch('/contacts/{id}', { ...options, path: { id }, body: changes }),

  /** Deletes a contact and erases its data. */
  delete: (id: string, options?: CallOptions): Promise<undefined> =>
    client.delete('/contacts/{id}', { ...options, path: { id } }),

  /** Returns what a contact receives: the state of every topic, snooze and frequency. */
  topics: (id: string, options?: CallOptions): Promise<ContactTopics> =>
    client.get('/contacts/{id}/topics', { ...options, path: { id } }),

  /** Changes what a contact receives; topics are named by key or ID. */
  changeTopics: (id: string, changes: ChangeContactTopicsRequest, options?: CallOptions): Promise<ContactTopics> =>
    client.patch('/contacts/{id}/topics', { ...options, path: { id }, body: changes }),

  /** Lists what a contact agreed to and withdrew, newest first. */
  consents: (
    id: string,
    query?: QueryOf<'/contacts/{id}/consents'>,
    options?: CallOptions,
  ): AsyncGenerator<Consent, void> => items(client, '/contacts/{id}/consents', { ...options, path: { id }, query }),

  /** Looks up which of up to 500 addresses are contacts. */
  lookUp: (emails: string[], options?: CallOptions): Promise<ContactLookup> =>
    client.post('/contacts/lookup', { ...options, body: { emails } }),

  /** Lists the custom fields of the project. */
  fields: (options?: CallOptions): Promise<ContactFieldCatalog> => client.get('/contacts/fields', options),

  /** Imports a CSV file with a header row and a column "email". `everpost.jobs.get` shows the progress. */
  import: (file: Blob, options?: CallOptions): Promise<QueuedJob> => {
    const form = new FormData();
    form.set('file', file, 'contacts.csv');
    return client.post('/imports', { ...options, body: form });
  },

  /** Changes or deletes all contacts of a segment or a condition, as a job. */
  bulk: (action: RunBulkActionRequest, options?: CallOptions): Promise<QueuedJob> =>
    client.post('/contacts/bulk', { ...options, body: action }),
});
