import type { Job } from '../../db/models/job.ts';
import { jobStatuses, jobTypes } from '../../services/jobs/find.ts';
import { dateTime, nullable, object, oneOf, record, text, uuid, wholeNumber } from '../http/schemas.ts';

export const jobSchema = object({
  id: uuid(),
  type: oneOf(...jobTypes),
  status: oneOf(...jobStatuses),
  /** 0 to 100. */
  progress: wholeNumber({ min: 0, max: 100 }),
  total: wholeNumber({ min: 0 }),
  processed: wholeNumber({ min: 0 }),
  result: record(),
  failedReason: nullable(text()),
  createdAt: dateTime(),
  startedAt: nullable(dateTime()),
  completedAt: nullable(dateTime()),
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
