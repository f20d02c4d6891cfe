import { createImport } from '../../services/jobs/create.ts';
import { exportSuppressions } from '../../services/suppressions/export.ts';
import { listSuppressions } from '../../services/suppressions/list.ts';
import { removeSuppression } from '../../services/suppressions/remove.ts';
import { suppressAddress, suppressionReasons } from '../../services/suppressions/suppress.ts';
import { accepted, answer, created, csvFile, failure, missing, noContent, ok } from '../http/answers.ts';
import { fileOf, importFields, importOptions, suppressionImportForm } from '../http/import-form.ts';
import { route, routes } from '../http/route.ts';
import { cursorPage, email, oneOf, optional, request, text } from '../http/schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import { queuedJobSchema } from '../presenters/job.ts';
import { presentSuppression, suppressionSchema } from '../presenters/suppression.ts';

const MAX_FILE_BYTES = 5 * 1024 * 1024;
const MAX_REASON = 500;
/** The longest address (RFC 5321). */
const MAX_SEARCH = 254;

/** A text that is none of the reasons is kept as a note. */
function reasonOf(given: string | undefined) {
  const reason = suppressionReasons.find((known) => known === given);
  return { reason: reason ?? ('MANUAL' as const), note: reason === undefined ? (given ?? null) : null };
}

export const suppressions = routes('Suppressions', [
  route({
    method: 'GET',
    path: '/suppressions',
    summary: 'List suppressed addresses, newest first',
    access: 'secretKey',
    scope: 'send:read',
    query: {
      ...cursorPage(),
      search: optional(text({ max: MAX_SEARCH })).description(
        'Part of an email address. A whole address is also found if only its hash is stored.',
      ),
      reason: optional(oneOf(...suppressionReasons)).description('Only addresses suppressed for this reason.'),
    },
    answers: { 200: answer('A page of suppressed addresses.', cursorListSchema(suppressionSchema)) },
    handle: async ({ db, project, settings, query }) =>
      ok(
        presentCursorList(
          await listSuppressions(db, project.projectId, settings.secretKeys, query),
          presentSuppression,
        ),
      ),
  }),
  route({
    method: 'POST',
    path: '/suppressions',
    summary: 'Suppress an address and unsubscribe its contact',
    access: 'secretKey',
    scope: 'send:write',
    body: request('SuppressAddressRequest', 'An address to suppress.', {
      email: email().description('Email address.'),
      reason: optional(text({ max: MAX_REASON })).description(
        'HARD_BOUNCE, COMPLAINT or MANUAL, the default. Any other text is stored as the note of a MANUAL suppression.',
      ),
    }),
    answers: {
      201: answer('The suppression, also if the address was suppressed before.', suppressionSchema),
    },
    handle: async ({ db, project, body: { email: address, reason } }) =>
      created(presentSuppression(await suppressAddress(db, project, { email: address, ...reasonOf(reason) }))),
  }),
  route({
    method: 'POST',
    path: '/suppressions/import',
    summary: 'Import suppressed addresses from a CSV file with a column "email"',
    access: 'secretKey',
    scope: 'send:write',
    multipart: { ...suppressionImportForm, maxFileBytes: MAX_FILE_BYTES },
    body: importFields(),
    answers: {
      202: answer('The job is queued.', queuedJobSchema),
      400: failure('There is no file, it is not CSV, or it has no column "email".', 'BAD_REQUEST'),
      409: failure('The project has the maximum number of open jobs.', 'CONFLICT'),
      413: failure('The file is larger than 5 MB.', 'PAYLOAD_TOO_LARGE'),
    },
    handle: async ({ db, project, settings, files, body }) =>
      accepted({
        jobId: await createImport(
          db,
          project,
          fileOf(files),
          settings.limits,
          importOptions(body),
          'SUPPRESSION_IMPORT',
        ),
      }),
  }),
  route({
    method: 'GET',
    path: '/suppressions/export',
    summary: 'Export suppressed addresses as CSV',
    access: 'secretKey',
    scope: 'send:read',
    role: 'MEMBER',
    projectInQuery: true,
    answers: {
      200: { description: 'The file, without addresses of which only a hash is stored.', contentType: 'text/csv' },
    },
    handle: async ({ db, project }) => csvFile('suppressions.csv', await exportSuppressions(db, project)),
  }),
  route({
    method: 'DELETE',
    path: '/suppressions/:email',
    summary: 'Remove a suppression',
    access: 'secretKey',
    scope: 'send:write',
    params: { email: email().description('Email address.') },
    answers: { 204: answer('Removed.'), 404: missing('suppressed address') },
    handle: async ({ db, project, params }) => {
      await removeSuppression(db, project, params.email);
      return noContent();
    },
  }),
]);
