import joi from 'joi';
import type { BulkType } from '../../db/models/job.ts';
import { validationError } from '../../platform/errors.ts';
import { MAX_KEY_LENGTH } from '../../services/contacts/data.ts';
import { cancelJob } from '../../services/jobs/cancel.ts';
import { createBulkJob, createImport } from '../../services/jobs/create.ts';
import { type BulkOptions, createJobByCondition } from '../../services/jobs/create-by-condition.ts';
import { exportErrors } from '../../services/jobs/errors.ts';
import { bulkTypes, findJob, importTypes } from '../../services/jobs/find.ts';
import { jobScopes } from '../../services/jobs/scopes.ts';
import { accepted, answer, csvFile, failure, missing, ok } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { contactImportFields, fileOf, importForm, importOptions } from '../http/import-form.ts';
import { named } from '../http/json-schema.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { list, object, oneOf, optional, request, text, uuid, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented } from '../http/violations.ts';
import { jobSchema, presentJob, queuedJobSchema } from '../presenters/job.ts';
import { givenCondition } from '../presenters/segment.ts';

const MAX_FILE_BYTES = 5 * 1024 * 1024;
const MAX_IDS = 1_000;
/** A million contacts are selected in one statement. */
const BY_CONDITION_MS = 30_000;

const queued = answer('The job was queued.', queuedJobSchema);
const params = { jobId: uuid().description('Job ID.') };
const tooMany = failure('The project has the maximum number of open jobs.', 'CONFLICT');
const jobAnswers = { 200: answer('The job.', jobSchema), 404: missing('job') };

const ids = (): Typed<string[] | undefined> => optional(list(uuid(), { min: 1, max: MAX_IDS }));

const selection = request('SelectContactsRequest', 'Contacts to change or delete.', {
  contactIds: (ids().when('ids', { is: joi.exist(), otherwise: joi.required() }) as ReturnType<typeof ids>).description(
    'Contact IDs, at most 1,000.',
  ),
  ids: ids().description('Alias of `contactIds`, used if that is left out.'),
});

const bulkRoute = (path: string, type: BulkType, summary: string) =>
  route({
    method: 'POST',
    path,
    summary,
    access: 'secretKey',
    scope: 'contacts:write',
    body: selection,
    answers: { 202: queued, 409: tooMany },
    handle: async ({ db, project, settings, body }) => {
      const contactIds = body.contactIds ?? body.ids ?? [];
      return accepted({ jobId: await createBulkJob(db, project, type, contactIds, settings.limits) });
    },
  });

const unreadable = failure(
  'There is no file, it is not CSV, it has no column for the address, or the segment is dynamic.',
  'BAD_REQUEST',
);
const noSegment = missing('segment', 'SEGMENT_NOT_FOUND');

const actions: Record<string, BulkType> = {
  SUBSCRIBE: 'BULK_SUBSCRIBE',
  UNSUBSCRIBE: 'BULK_UNSUBSCRIBE',
  DELETE: 'BULK_DELETE',
  ADD_TO_SEGMENT: 'BULK_ADD_TO_SEGMENT',
  SET_FIELD: 'BULK_SET_FIELD',
  TOPIC_SUBSCRIBE: 'BULK_TOPIC_SUBSCRIBE',
  TOPIC_UNSUBSCRIBE: 'BULK_TOPIC_UNSUBSCRIBE',
};

/** Requires one of the two, and not both. */
function oneSelection<B extends { condition?: unknown; segmentId?: string | undefined }>(body: B): B {
  if ((body.condition === undefined) !== (body.segmentId === undefined)) return body;
  const message = 'either "condition" or "segmentId" is required, and not both';
  throw validationError([{ field: 'condition', message, code: 'required' }]);
}

interface GivenOptions {
  toSegmentId?: string | undefined;
  field?: string | undefined;
  value?: unknown;
  topicId?: string | undefined;
}

/** Returns what the action needs, and only that. */
function bulkOptions(type: BulkType, { toSegmentId, field, value, topicId }: GivenOptions): BulkOptions {
  const required = (name: string) =>
    validationError([{ field: name, message: `"${name}" is required`, code: 'required' }]);
  if (type === 'BULK_ADD_TO_SEGMENT') {
    if (toSegmentId === undefined) throw required('toSegmentId');
    return { toSegmentId };
  }
  if (type === 'BULK_TOPIC_SUBSCRIBE' || type === 'BULK_TOPIC_UNSUBSCRIBE') {
    if (topicId === undefined) throw required('topicId');
    return { topicId: topicId.toLowerCase() };
  }
  if (type !== 'BULK_SET_FIELD') return {};
  if (field === undefined) throw required('field');
  if (value === undefined) throw required('value');
  return { field, value };
}

export const contactJobs = ({ settings: { importMaxBytes } }: Pick<AppParts, 'settings'>): RouteGroup =>
  routes('Contacts', [
    route({
      method: 'POST',
      path: '/contacts/import',
      summary: 'Import contacts from a CSV file of up to 5 MB with an "email" column',
      access: 'secretKey',
      scope: 'contacts:write',
      multipart: { ...importForm, maxFileBytes: MAX_FILE_BYTES },
      body: contactImportFields(),
      answers: {
        202: queued,
        400: unreadable,
        404: noSegment,
        409: tooMany,
        413: failure('The file is larger than 5 MB.', 'PAYLOAD_TOO_LARGE'),
      },
      handle: async ({ db, project, settings, files, body }) =>
        accepted({ jobId: await createImport(db, project, fileOf(files), settings.limits, importOptions(body)) }),
    }),
    route({
      method: 'POST',
      path: '/imports',
      heavy: 'upload',
      summary: 'Import contacts from a large CSV file',
      access: 'secretKey',
      scope: 'contacts:write',
      multipart: { ...importForm, maxFileBytes: importMaxBytes, large: true },
      body: contactImportFields(),
      answers: {
        202: queued,
        400: unreadable,
        404: noSegment,
        408: failure('The upload is too slow.', 'BAD_REQUEST'),
        409: tooMany,
        413: failure('The file is larger than IMPORT_MAX_BYTES.', 'PAYLOAD_TOO_LARGE'),
        429: failure(
          'Too many large files are being received, or the project made too many requests.',
          'RATE_LIMIT_EXCEEDED',
        ),
      },
      handle: async ({ db, project, settings, files, body }) =>
        accepted({ jobId: await createImport(db, project, fileOf(files), settings.limits, importOptions(body)) }),
    }),
    route({
      method: 'GET',
      path: '/contacts/import/:jobId',
      summary: 'Get an import job',
      access: 'secretKey',
      scope: jobScopes('read', importTypes),
      params,
      answers: jobAnswers,
      handle: async ({ db, project, params }) => ok(presentJob(await findJob(db, project, params.jobId, importTypes))),
    }),
    route({
      method: 'GET',
      path: '/contacts/import/:jobId/errors',
      summary: 'Download the rejected rows of an import as CSV, for 30 days',
      access: 'secretKey',
      scope: jobScopes('read', importTypes),
      role: 'MEMBER',
      projectInQuery: true,
      params,
      answers: {
        200: { description: 'Row number, address and error of each row.', contentType: 'text/csv' },
        404: missing('job'),
      },
      handle: async ({ db, project, params }) => {
        const { id, projectId } = await findJob(db, project, params.jobId, importTypes);
        return csvFile('errors.csv', exportErrors(db, projectId, id));
      },
    }),
    route({
      method: 'POST',
      path: '/contacts/bulk',
      summary: 'Change or delete all contacts of a condition or segment',
      access: 'secretKey',
      scope: 'contacts:write',
      body: named(
        'RunBulkActionRequest',
        'An action on all contacts that match a condition or are in a segment. Pass either `condition` or `segmentId`.',
        documented(
          object({
            action: oneOf(
              'SUBSCRIBE',
              'UNSUBSCRIBE',
              'DELETE',
              'ADD_TO_SEGMENT',
              'SET_FIELD',
              'TOPIC_SUBSCRIBE',
              'TOPIC_UNSUBSCRIBE',
            ).description('What to do with the contacts.'),
            toSegmentId: optional(uuid()).description('ID of the static segment. Required for ADD_TO_SEGMENT.'),
            field: optional(text({ max: MAX_KEY_LENGTH })).description('Custom field. Required for SET_FIELD.'),
            value: documented(joi.any(), {}).description(
              'New value of the field; null removes the field. Required for SET_FIELD.',
            ),
            topicId: optional(uuid()).description(
              'ID of the topic. Required for TOPIC_SUBSCRIBE and TOPIC_UNSUBSCRIBE.',
            ),
            condition: givenCondition().description('Condition that the contacts match.'),
            segmentId: optional(uuid()).description('ID of the segment that the contacts are in.'),
            expectedCount: wholeNumber({ min: 0 }).description(
              'Number of contacts you expect. If the actual number differs by more than 1%, nothing is changed.',
            ),
          }),
          { oneOf: [{ required: ['condition'] }, { required: ['segmentId'] }] },
        ),
      ),
      statementTimeoutMs: BY_CONDITION_MS,
      answers: {
        202: queued,
        400: failure(
          'The condition is invalid, takes too long to evaluate, or the segment to add to is dynamic.',
          'BAD_REQUEST',
        ),
        404: missing('segment or topic', 'SEGMENT_NOT_FOUND'),
        409: failure('The number of contacts differs by more than 1 %, or too many jobs are open.', 'CONFLICT'),
      },
      handle: async ({
        db,
        project,
        settings: { limits },
        body: { action, toSegmentId, field, value, topicId, ...chosen },
      }) => {
        const type = actions[action] ?? 'BULK_SUBSCRIBE';
        const options = bulkOptions(type, { toSegmentId, field, value, topicId });
        return accepted({
          jobId: await createJobByCondition(db, project, type, oneSelection(chosen), limits, options),
        });
      },
    }),
    bulkRoute('/contacts/bulk-subscribe', 'BULK_SUBSCRIBE', 'Subscribe up to 1,000 contacts'),
    bulkRoute('/contacts/bulk-unsubscribe', 'BULK_UNSUBSCRIBE', 'Unsubscribe up to 1,000 contacts'),
    bulkRoute('/contacts/bulk-delete', 'BULK_DELETE', 'Delete up to 1,000 contacts'),
    route({
      method: 'GET',
      path: '/contacts/bulk/:jobId',
      summary: 'Get a bulk job',
      access: 'secretKey',
      scope: 'contacts:read',
      params,
      answers: jobAnswers,
      handle: async ({ db, project, params }) => ok(presentJob(await findJob(db, project, params.jobId, bulkTypes))),
    }),
    route({
      method: 'POST',
      path: '/contacts/jobs/:jobId/cancel',
      summary: 'Cancel a job, keeping the changes made so far',
      access: 'secretKey',
      scope: jobScopes('write'),
      params,
      answers: { ...jobAnswers, 409: failure('The job has ended.', 'CONFLICT') },
      handle: async ({ db, project, settings, params }) =>
        ok(presentJob(await cancelJob(db, project, params.jobId, settings.limits))),
    }),
  ]);
