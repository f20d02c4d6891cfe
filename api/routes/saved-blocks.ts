import { createRenderJob } from '../../services/jobs/render-documents.ts';
import {
  createSavedBlock,
  deleteSavedBlock,
  findSavedBlock,
  listSavedBlocks,
  savedBlockKinds,
  savedBlockUsage,
  updateSavedBlock,
} from '../../services/mail-documents/saved-blocks.ts';
import { accepted, answer, created, failure, missing, noContent, ok } from '../http/answers.ts';
import { givenDocument } from '../http/mail-document-schema.ts';
import { route, routes } from '../http/route.ts';
import { list, oneOf, optional, request, text, uuid } from '../http/schemas.ts';
import {
  listedSavedBlockSchema,
  presentListedSavedBlock,
  presentSavedBlock,
  savedBlockSchema,
  savedBlockUsageSchema,
} from '../presenters/saved-block.ts';
import { queuedRender, tooManyJobs } from './brand-kit.ts';
import { bodyLimit } from './templates.ts';

const params = { id: uuid().description('Block ID.') };
const one = answer('The saved block.', savedBlockSchema);
const noBlock = missing('saved block');

const name = () => text({ max: 255 }).description('Name of the block.');
const kind = () =>
  oneOf(...savedBlockKinds).description(
    'FOOTER holds exactly one footer and stands at the top level of a document; HEADER and SECTION hold none.',
  );
const document = () => givenDocument().description('The blocks, without saved ones; preheader and theme are ignored.');

export const savedBlocks = routes('Templates', [
  route({
    method: 'GET',
    path: '/saved-blocks',
    summary: 'List the saved blocks by name, at most 200',
    access: 'secretKey',
    scope: 'templates:read',
    answers: { 200: answer('The saved blocks.', list(listedSavedBlockSchema)) },
    handle: async ({ db, project }) => ok((await listSavedBlocks(db, project.projectId)).map(presentListedSavedBlock)),
  }),
  route({
    method: 'POST',
    path: '/saved-blocks',
    summary: 'Create a saved block',
    access: 'secretKey',
    scope: 'templates:write',
    body: request('CreateSavedBlockRequest', 'A block to save.', { name: name(), kind: kind(), document: document() }),
    bodyLimit,
    answers: { 201: one, 409: failure('The project has the maximum number of saved blocks.', 'CONFLICT') },
    handle: async ({ db, project, body }) => created(presentSavedBlock(await createSavedBlock(db, project, body))),
  }),
  route({
    method: 'GET',
    path: '/saved-blocks/:id',
    summary: 'Get a saved block',
    access: 'secretKey',
    scope: 'templates:read',
    params,
    answers: { 200: one, 404: noBlock },
    handle: async ({ db, project, params }) =>
      ok(presentSavedBlock(await findSavedBlock(db, project.projectId, params.id))),
  }),
  route({
    method: 'PATCH',
    path: '/saved-blocks/:id',
    summary: 'Update a saved block; stored emails change with POST /saved-blocks/:id/apply',
    access: 'secretKey',
    scope: 'templates:write',
    params,
    body: request('UpdateSavedBlockRequest', 'The changes; fields that are left out stay as they are.', {
      name: optional(name()),
      kind: optional(kind()),
      document: optional(document()),
    }),
    bodyLimit,
    answers: { 200: one, 404: noBlock },
    handle: async ({ db, project, params, body }) =>
      ok(presentSavedBlock(await updateSavedBlock(db, project, params.id, body))),
  }),
  route({
    method: 'DELETE',
    path: '/saved-blocks/:id',
    summary: 'Delete a saved block that is not used',
    access: 'secretKey',
    scope: 'templates:write',
    params,
    answers: {
      204: answer('Deleted.'),
      404: noBlock,
      409: failure('A template, a draft, or a campaign that is DRAFT or SCHEDULED uses the block.', 'CONFLICT'),
    },
    handle: async ({ db, project, params }) => {
      await deleteSavedBlock(db, project, params.id);
      return noContent();
    },
  }),
  route({
    method: 'GET',
    path: '/saved-blocks/:id/usage',
    summary: 'List the templates and campaigns that use a saved block',
    access: 'secretKey',
    scope: 'templates:read',
    params,
    answers: { 200: answer('The templates and campaigns.', savedBlockUsageSchema), 404: noBlock },
    handle: async ({ db, project, params }) => ok(await savedBlockUsage(db, project.projectId, params.id)),
  }),
  route({
    method: 'POST',
    path: '/saved-blocks/:id/apply',
    summary: 'Render the templates and draft campaigns that use a saved block again',
    access: 'secretKey',
    scope: 'templates:write',
    params,
    answers: { 202: queuedRender, 404: noBlock, 409: tooManyJobs },
    handle: async ({ db, project, settings, params }) =>
      accepted({ jobId: await createRenderJob(db, project, params.id, settings.limits) }),
  }),
]);
