import type {
  CreateFormRequest,
  Form,
  FormEmbed,
  FormStats,
  FormSubmission,
  ResentSubmission,
  SubmissionReceived,
  SubscribeRequest,
  UpdateFormRequest,
} from '../api-types.ts';
import { items } from '../pages.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions, QueryOf } from '../types.ts';

/** What visitors subscribe with. */
export const forms = (client: RawClient) => ({
  create: (form: CreateFormRequest, options?: CallOptions): Promise<Form> =>
    client.post('/forms', { ...options, body: form }),

  list: (options?: CallOptions): Promise<Form[]> => client.get('/forms', options),

  get: (id: string, options?: CallOptions): Promise<Form> => client.get('/forms/{id}', { ...options, path: { id } }),

  /** Changes a form. Changed fields or texts make a new version. */
  update: (id: string, changes: UpdateFormRequest, options?: CallOptions): Promise<Form> =>
    client.patch('/forms/{id}', { ...options, path: { id }, body: changes }),

  /** Deletes a form. Links in confirmations that were sent keep working. */
  delete: (id: string, options?: CallOptions): Promise<undefined> =>
    client.delete('/forms/{id}', { ...options, path: { id } }),

  /** Copies a form. The copy is PAUSED. */
  duplicate: (id: string, options?: CallOptions): Promise<Form> =>
    client.post('/forms/{id}/duplicate', { ...options, path: { id } }),

  /** Returns the code that shows a form in a page. */
  embed: (id: string, options?: CallOptions): Promise<FormEmbed> =>
    client.get('/forms/{id}/embed', { ...options, path: { id } }),

  stats: (id: string, query?: QueryOf<'/forms/{id}/stats'>, options?: CallOptions): Promise<FormStats> =>
    client.get('/forms/{id}/stats', { ...options, path: { id }, query }),

  /** Lists what visitors submitted, newest first. */
  submissions: (
    id: string,
    query?: QueryOf<'/forms/{id}/submissions'>,
    options?: CallOptions,
  ): AsyncGenerator<FormSubmission, void> =>
    items(client, '/forms/{id}/submissions', { ...options, path: { id }, query }),

  /** Sends the confirmation of a PENDING submission again, at most once an hour. */
  resend: (id: string, submissionId: string, options?: CallOptions): Promise<ResentSubmission> =>
    client.post('/forms/{id}/submissions/{submissionId}/resend', { ...options, path: { id, submissionId } }),

  /** Submits a form for a visitor. The answer is the same for every address. */
  subscribe: async (submission: SubscribeRequest, options?: CallOptions): Promise<SubmissionReceived> =>
    (await client.post('/v1/subscribe', { ...options, body: submission })).data,
});
