import type { Db } from '../../db/connect.ts';
import { Job, JobInputRow } from '../../db/models/job.ts';
import { ApiError, notFound } from '../../platform/errors.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { workflowIds } from '../outbox/ids.ts';
import { writeOutboxMessage } from '../outbox/write.ts';
import { requireJobScope } from './scopes.ts';
import { admitWaiting } from './slots.ts';

/** Takes effect at the commit: applied chunks are counted, and no further chunk is applied. */
export async function cancelJob(db: Db, project: ProjectAccess, id: string, limits: Limits = UNLIMITED): Promise<Job> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    const job = await Job.query(trx).findOne({ projectId, id }).forUpdate();
    if (!job) throw notFound('job');
    requireJobScope(project, job, 'write');
    if (job.status !== 'QUEUED' && job.status !== 'RUNNING')
      throw new ApiError(409, 'CONFLICT', `This job has already ended (${job.status}).`);
    await JobInputRow.query(trx).deleteById(id);
    // A job that waits for a slot has no Temporal workflow.
    if (job.admittedAt)
      await writeOutboxMessage(trx, {
        queue: 'control',
        action: 'cancel',
        workflowId: workflowIds.job(projectId, id),
        projectId,
      });
    const cancelled = await job.$query(trx).patchAndFetch({ status: 'CANCELLED', completedAt: new Date() });
    await admitWaiting(trx, projectId, limits);
    return cancelled;
  });
}
