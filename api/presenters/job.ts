import type { Job } from '../../db/models/job.ts';
import { jobStatuses, jobTypes } from '../../services/jobs/find.ts';
import { dateTime, namedType, nullable, oneOf, record, text, uuid, wholeNumber } from '../http/schemas.ts';

export const jobSchema = namedType('Job', 'Background work on many contacts, suppressions, executions or documents.', {
  id: uuid().description('Job ID.'),
  type: oneOf(...jobTypes).description('Job type.'),
  status: oneOf(...jobStatuses).description('Job status.'),
  progress: wholeNumber({ min: 0, max: 100 }).description('Progress in percent, 0 to 100.'),
  total: wholeNumber({ min: 0 }).description(
    'Number of rows, contacts, executions or documents to process; 0 until the rows of an import are counted.',
  ),
  processed: wholeNumber({ min: 0 }).description('Number of rows, contacts, executions or documents processed so far.'),
  result: record()
    .description(
      'Counts so far, and `errors`: the first 1,000, in lists the first 20. Imports have `totalRows`, `created`, `updated`, `unchanged`, `failed`, for a dry run `dryRun`, and for files with consent `keptUnsubscribed`; other jobs have `requested`, `changed`, `unchanged` and `failed`, and, where they copy a segment, `segmentId`; RENDER has `rendered`, `unchanged` and `failed`.',
    )
    .example({ totalRows: 200, created: 150, updated: 40, unchanged: 10, failed: 0, errors: [] }),
  failedReason: nullable(text()).description('Why the job failed; null unless it did.'),
  createdAt: dateTime().description('When the job was created.'),
  startedAt: nullable(dateTime()).description('When the job started; null until then.'),
  completedAt: nullable(dateTime()).description('When the job completed, failed or was canceled; null until then.'),
});

export const queuedJobSchema = namedType('QueuedJob', 'A job that was queued.', {
  jobId: uuid().description('Job ID.'),
});

export const presentJob = ({ id, type, status, total, processed, result, failedReason, ...times }: Job) => ({
  id,
  type,
  status,
  progress: progressOf(status, processed, total),
  total,
  processed,
  result,
  failedReason,
  createdAt: times.createdAt,
  startedAt: times.startedAt,
  completedAt: times.completedAt,
});

const LISTED_ERRORS = 20;

/** In a list, with the first errors only: a hundred jobs may have a hundred thousand. */
export const presentListedJob = ({ result, ...job }: Job) =>
  presentJob({ ...job, result: { ...result, errors: result.errors.slice(0, LISTED_ERRORS) } } as Job);

/** A job without rows is complete once it has been processed. */
const progressOf = (status: Job['status'], processed: number, total: number): number =>
  total === 0 ? Number(status === 'COMPLETED') * 100 : Math.floor((processed / total) * 100);
