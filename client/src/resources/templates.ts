import type {
  CreateTemplateRequest,
  PublishTemplateDraftRequest,
  RenderEmailRequest,
  RenderedEmail,
  SaveTemplateDraftRequest,
  SendTestEmailRequest,
  SendTestEmailResponse,
  Template,
  TemplateDraft,
  UpdateTemplateRequest,
} from '../api-types.ts';
import { items } from '../pages.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions, QueryOf } from '../types.ts';

/** Subjects and bodies for repeated use. */
export const templates = (client: RawClient) => ({
  create: (template: CreateTemplateRequest, options?: CallOptions): Promise<Template> =>
    client.post('/templates', { ...options, body: template }),

  list: (query?: QueryOf<'/templates'>, options?: CallOptions): AsyncGenerator<Template, void> =>
    items(client, '/templates', { ...options, query }),

  get: (id: string, options?: CallOptions): Promise<Template> =>
    client.get('/templates/{id}', { ...options, path: { id } }),

  update: (id: string, changes: UpdateTemplateRequest, options?: CallOptions): Promise<Template> =>
    client.patch('/templates/{id}', { ...options, path: { id }, body: changes }),

  delete: (id: string, options?: CallOptions): Promise<undefined> =>
    client.delete('/templates/{id}', { ...options, path: { id } }),

  /** Returns the draft, or the template itself if there is none. */
  getDraft: (id: string, options?: CallOptions): Promise<TemplateDraft> =>
    client.get('/templates/{id}/draft', { ...options, path: { id } }),

  /** Saves a draft, which changes nothing until it is published. */
  saveDraft: (id: string, draft: SaveTemplateDraftRequest, options?: CallOptions): Promise<TemplateDraft> =>
    client.put('/templates/{id}/draft', { ...options, path: { id }, body: draft }),

  discardDraft: (id: string, options?: CallOptions): Promise<undefined> =>
    client.delete('/templates/{id}/draft', { ...options, path: { id } }),

  publishDraft: (id: string, draft: PublishTemplateDraftRequest, options?: CallOptions): Promise<Template> =>
    client.post('/templates/{id}/draft/publish', { ...options, path: { id }, body: draft }),

  /** Sends a test email. */
  test: (id: string, test: SendTestEmailRequest, options?: CallOptions): Promise<SendTestEmailResponse> =>
    client.post('/templates/{id}/test', { ...options, path: { id }, body: test }),

  /** Renders an email as a contact or with given values. Sends nothing. */
  render: (email: RenderEmailRequest, options?: CallOptions): Promise<RenderedEmail> =>
    client.post('/render', { ...options, body: email }),
});
