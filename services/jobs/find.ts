import type { Db } from '../../db/connect.ts';
import { bulkTypes, importTypes, Job, type JobType, retryTypes } from '../../db/models/job.ts';
import { notFound } from '../../platform/errors.ts';

export { bulkTypes, importTypes, jobStatuses } from '../../db/models/job.ts';

export const jobTypes = [...importTypes, ...bulkTypes, ...retryTypes] as const;

/** Finds only jobs of these types: an import is not found under the path of bulk jobs. */
export async function findJob(db: Db, projectId: string, id: string, types: readonly JobType[]): Promise<Job> {
  const job = await Job.query(db)
    .findOne({ projectId, id })
    .whereIn('type', [...types]);
  if (!job) throw notFound('job');
  return job;
}
