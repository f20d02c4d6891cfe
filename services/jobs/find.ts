import type { Db } from '../../db/connect.ts';
import { Job, type JobType, jobTypes } from '../../db/models/job.ts';
import { notFound } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireJobScope } from './scopes.ts';

export { bulkTypes, importTypes, jobStatuses, jobTypes } from '../../db/models/job.ts';

/** Finds a job for a caller, who needs its scope. Of these types only: an import is not found among bulk jobs. */
export async function findJob(
  db: Db,
  project: ProjectAccess,
  id: string,
  types: readonly JobType[] = jobTypes,
): Promise<Job> {
  const job = await readJob(db, project.projectId, id, types);
  requireJobScope(project, job, 'read');
  return job;
}

/** The same without a check of scopes. */
export async function readJob(
  db: Db,
  projectId: string,
  id: string,
  types: readonly JobType[] = jobTypes,
): Promise<Job> {
  const job = await Job.query(db)
    .findOne({ projectId, id })
    .whereIn('type', [...types]);
  if (!job) throw notFound('job');
  return job;
}
