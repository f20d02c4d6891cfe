import { createRenderJob } from '../../services/jobs/render-documents.ts';
import { findBrandKit, saveBrandKit } from '../../services/mail-documents/brand-kit.ts';
import { accepted, answer, failure, ok } from '../http/answers.ts';
import { saveBrandKitRequest } from '../http/brand-kit-schema.ts';
import { route, routes } from '../http/route.ts';
import { brandKitAnswer, presentBrandKit } from '../presenters/brand-kit.ts';
import { queuedJobSchema } from '../presenters/job.ts';

export const tooManyJobs = failure('The project has the maximum number of open jobs.', 'CONFLICT');
export const queuedRender = answer('The job was queued.', queuedJobSchema);

const theKit = answer('The brand kit.', brandKitAnswer);

export const brandKit = routes('Templates', [
  route({
    method: 'GET',
    path: '/brand-kit',
    summary: 'Get the brand kit; the defaults until it is saved',
    access: 'secretKey',
    scope: 'templates:read',
    answers: { 200: theKit },
    handle: async ({ db, project }) => ok(presentBrandKit(await findBrandKit(db, project.projectId))),
  }),
  route({
    method: 'PUT',
    path: '/brand-kit',
    summary: 'Replace the brand kit; stored emails change with POST /brand-kit/apply',
    access: 'secretKey',
    scope: 'templates:write',
    body: saveBrandKitRequest,
    answers: { 200: theKit },
    handle: async ({ db, project, body }) => ok(presentBrandKit(await saveBrandKit(db, project, body))),
  }),
  route({
    method: 'POST',
    path: '/brand-kit/apply',
    summary: 'Render templates and draft campaigns again with the brand kit',
    access: 'secretKey',
    scope: 'templates:write',
    answers: { 202: queuedRender, 409: tooManyJobs },
    handle: async ({ db, project, settings }) =>
      accepted({ jobId: await createRenderJob(db, project, undefined, settings.limits) }),
  }),
]);
