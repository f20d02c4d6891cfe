import { readFile } from 'node:fs/promises';
import joi from 'joi';
import type { BulkType } from '../../db/models/job.ts';
import { badRequest } from '../../platform/errors.ts';
import { cancelJob } from '../../services/jobs/cancel.ts';
import { createBulkJob, createImport } from '../../services/jobs/create.ts';
import { bulkTypes, findJob, importTypes } from '../../services/jobs/find.ts';
import { accepted, answer, failure, missing, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { list, object, optional, uuid } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { jobSchema, presentJob } from '../presenters/job.ts';

const MAX_FILE_BYTES = 5 * 1024 * 1024;
const MAX_IDS = 1_000;

const queued = answer('The job is queued.', object({ jobId: uuid() }));
const tooMany = failure('The project has the maximum number of open jobs.', 'CONFLICT');
const jobAnswers = { 200: answer('The job.', jobSchema), 404: missing('job') };

const ids = (): Typed<string[] | undefined> => optional(list(uuid(), { min: 1, max: MAX_IDS }));

/** `ids` is an alias of `contactIds`. */
const contactIds = () => ({
  contactIds: ids().when('ids', { is: joi.exist(), otherwise: joi.required() }) as ReturnType<typeof ids>,
  ids: ids(),
});

const bulkRoute = (path: string, type: BulkType, summary: string) =>
  route({
    method: 'POST',
    path,
    summary,
    access: 'secretKey',
    scope: 'contacts:write',
    body: contactIds(),
    answers: { 202: queued, 409: tooMany },
    handle: async ({ db, project, settings, body }) => {
      const contactIds = body.contactIds ?? body.ids ?? [];
      return accepted({ jobId: await createBulkJob(db, project, type, contactIds, settings.limits) });
    },
  });

export const contactJobs = routes('Contacts', [
  route({
    method: 'POST',
    path: '/contacts/import',
    summary: 'Import contacts from a CSV file with a column "email"',
    access: 'secretKey',
    scope: 'contacts:write',
    multipart: { files: ['file'], maxFileBytes: MAX_FILE_BYTES },
    answers: {
      202: queued,
      400: failure('There is no file, it is not CSV, or it has no column "email".', 'BAD_REQUEST'),
      409: tooMany,
      413: failure('The file is larger than 5 MB.', 'PAYLOAD_TOO_LARGE'),
    },
    handle: async ({ db, project, settings, files }) => {
      if (!files.file) throw badRequest('Send the CSV file in the multipart field "file".');
      return accepted({ jobId: await createImport(db, project, await readFile(files.file.path), settings.limits) });
    },
  }),
  route({
    method: 'GET',
    path: '/contacts/import/:jobId',
    summary: 'Get the progress of an import',
    access: 'secretKey',
    scope: 'contacts:read',
    params: { jobId: uuid() },
    answers: jobAnswers,
    handle: async ({ db, project, params }) =>
      ok(presentJob(await findJob(db, project.projectId, params.jobId, importTypes))),
  }),
  bulkRoute('/contacts/bulk-subscribe', 'BULK_SUBSCRIBE', 'Subscribe up to 1,000 contacts'),
  bulkRoute('/contacts/bulk-unsubscribe', 'BULK_UNSUBSCRIBE', 'Unsubscribe up to 1,000 contacts'),
  bulkRoute('/contacts/bulk-delete', 'BULK_DELETE', 'Delete up to 1,000 contacts'),
  route({
    method: 'GET',
    path: '/contacts/bulk/:jobId',
    summary: 'Get the progress of a bulk job',
    access: 'secretKey',
    scope: 'contacts:read',
    params: { jobId: uuid() },
    answers: jobAnswers,
    handle: async ({ db, project, params }) =>
      ok(presentJob(await findJob(db, project.projectId, params.jobId, bulkTypes))),
  }),
  route({
    method: 'POST',
    path: '/contacts/jobs/:jobId/cancel',
    summary: 'Cancel an import or a bulk job; finished rows stay changed',
    access: 'secretKey',
    scope: 'contacts:write',
    params: { jobId: uuid() },
    answers: { ...jobAnswers, 409: failure('The job has ended.', 'CONFLICT') },
    handle: async ({ db, project, settings, params }) =>
      ok(presentJob(await cancelJob(db, project, params.jobId, settings.limits))),
  }),
]);
