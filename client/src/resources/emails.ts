import type {
  Email,
  EmailContent,
  EmailDetail,
  SendRequest,
  SendResponse,
  VerifyAddressResponse,
} from '../api-types.ts';
import { items } from '../pages.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions, QueryOf } from '../types.ts';

/** Transactional email, and the log of all email. */
export const emails = (client: RawClient) => ({
  /** Sends an email to one or several recipients. Each gets their own copy. */
  send: async (email: SendRequest, options?: CallOptions): Promise<SendResponse['data']> =>
    (await client.post('/v1/send', { ...options, body: email })).data,

  /** Lists emails, newest first: `for await (const email of everpost.emails.list())`. */
  list: (query?: QueryOf<'/emails'>, options?: CallOptions): AsyncGenerator<Email, void> =>
    items(client, '/emails', { ...options, query }),

  /** Returns an email with its delivery attempts. */
  get: (id: string, options?: CallOptions): Promise<EmailDetail> =>
    client.get('/emails/{id}', { ...options, path: { id } }),

  /** Returns subject, bodies and headers of an email. */
  content: (id: string, options?: CallOptions): Promise<EmailContent> =>
    client.get('/emails/{id}/content', { ...options, path: { id } }),

  /** Sends an email again that is FAILED or UNKNOWN. */
  resend: (id: string, options?: CallOptions): Promise<Email> =>
    client.post('/emails/{id}/resend', { ...options, path: { id } }),

  /** Checks whether an address can receive email. */
  verifyAddress: async (email: string, options?: CallOptions): Promise<VerifyAddressResponse['data']> =>
    (await client.post('/v1/verify', { ...options, body: { email } })).data,
});
