import {
  dropTemplateDraft,
  findTemplateDraft,
  presentTemplateDraft,
  publishTemplateDraft,
  saveTemplateDraft,
} from '../../services/templates/drafts.ts';
import { answer, noContent, ok } from '../http/answers.ts';
import { changedContent } from '../http/given-content.ts';
import { route, routes } from '../http/route.ts';
import { optional, request } from '../http/schemas.ts';
import { presentTemplate, templateDraftSchema } from '../presenters/template.ts';
import {
  bodyLimit,
  noTemplate,
  one,
  outdated,
  revision,
  subjectTemplate,
  templateParams,
  unreadable,
} from './templates.ts';

const theDraft = answer('The draft.', templateDraftSchema);
const expectedRevision = revision().description('Revision of the draft that you have read; 409 if it is outdated.');

export const templateDrafts = routes('Templates', [
  route({
    method: 'GET',
    path: '/templates/:id/draft',
    summary: 'Get the draft of a template, or the template itself if there is none',
    access: 'secretKey',
    scope: 'templates:read',
    params: templateParams,
    answers: { 200: theDraft, 404: noTemplate },
    handle: async ({ db, project, params }) =>
      ok(presentTemplateDraft(await findTemplateDraft(db, project.projectId, params.id))),
  }),
  route({
    method: 'PUT',
    path: '/templates/:id/draft',
    summary: 'Save the draft of a template; it may be incomplete',
    access: 'secretKey',
    scope: 'templates:write',
    params: templateParams,
    body: request('SaveTemplateDraftRequest', 'The draft to save. Fields that are left out stay as they are.', {
      ...changedContent({ min: 0 }),
      subject: optional(subjectTemplate().allow('') as ReturnType<typeof subjectTemplate>),
      expectedRevision,
    }),
    bodyLimit,
    answers: { 200: theDraft, 404: noTemplate, 409: outdated },
    handle: async ({ db, project, params, body }) =>
      ok(presentTemplateDraft(await saveTemplateDraft(db, project, params.id, body))),
  }),
  route({
    method: 'DELETE',
    path: '/templates/:id/draft',
    summary: 'Discard the draft of a template',
    access: 'secretKey',
    scope: 'templates:write',
    params: templateParams,
    answers: { 204: answer('Discarded.'), 404: noTemplate },
    handle: async ({ db, project, params }) => {
      await dropTemplateDraft(db, project, params.id);
      return noContent();
    },
  }),
  route({
    method: 'POST',
    path: '/templates/:id/draft/publish',
    summary: 'Publish the draft of a template as its newest version',
    access: 'secretKey',
    scope: 'templates:write',
    params: templateParams,
    body: request('PublishTemplateDraftRequest', 'The draft to publish.', { expectedRevision }),
    answers: { 200: one, 400: unreadable, 404: noTemplate, 409: outdated },
    handle: async ({ db, project, params, body }) =>
      ok(presentTemplate(await publishTemplateDraft(db, project, params.id, body.expectedRevision))),
  }),
]);
