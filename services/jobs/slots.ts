import { type Db, inTransaction } from '../../db/connect.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Limits } from '../../platform/limits.ts';
import { workflowIds } from '../outbox/ids.ts';
import { writeOutboxMessage } from '../outbox/write.ts';

// A project runs some of its jobs at once; the others wait QUEUED. A waiting job is a row and nothing more: its workflow
// is started in the transaction that ends another one, so it costs Temporal nothing and survives every crash.

type JobLimits = Pick<Limits, 'openJobs' | 'runningJobs'>;

/** Held until the end of the transaction: jobs of a project are counted one after the other. */
async function lockJobs(trx: Db, projectId: string): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`jobs/${projectId}`]);
}

/** Refuses the job that would be one too many. The lock is kept for the insert that follows. */
export async function requireRoomForJob(trx: Db, projectId: string, { openJobs }: JobLimits): Promise<void> {
  await lockJobs(trx, projectId);
  const { rows } = await trx.raw(
    `select count(*)::integer as open from jobs where project_id = ? and status in ('QUEUED', 'RUNNING')`,
    [projectId],
  );
  if (rows[0].open >= openJobs)
    throw new ApiError(409, 'CONFLICT', `This project has ${openJobs} jobs that have not ended, which is the limit.`, {
      suggestion: 'Wait for one of them to end, or cancel one with POST /contacts/jobs/:jobId/cancel.',
    });
}

/**
 * Starts as many waiting jobs as there are free slots, the oldest first. Rows that somebody else holds are left out: who
 * holds one is cancelling it, and looks for the next one itself. So this waits for no row while it has the lock.
 */
export async function admitWaiting(trx: Db, projectId: string, { runningJobs }: JobLimits): Promise<number> {
  await lockJobs(trx, projectId);
  const { rows } = await trx.raw(
    `with open as (
       select count(*) as jobs from jobs
       where project_id = :projectId and status in ('QUEUED', 'RUNNING') and admitted_at is not null
     )
     update jobs set admitted_at = now() where id = any (array(
       select id from jobs where project_id = :projectId and status = 'QUEUED' and admitted_at is null
       order by id limit (select greatest(:runningJobs - jobs, 0) from open) for update skip locked))
     returning id`,
    { projectId, runningJobs },
  );
  for (const { id } of rows as { id: string }[])
    await writeOutboxMessage(trx, {
      queue: 'starts',
      action: 'start',
      workflowType: 'job',
      workflowId: workflowIds.job(projectId, id),
      args: [{ jobId: id }],
      projectId,
      resourceId: id,
    });
  return rows.length;
}

/** Housekeeping, for slots that were freed without a look at who waits: the setting was raised, or rows were deleted. */
export async function admitAllWaiting(db: Db, limits: JobLimits): Promise<number> {
  const { rows } = await db.raw(`select distinct project_id from jobs where status = 'QUEUED' and admitted_at is null`);
  let admitted = 0;
  for (const { project_id: projectId } of rows as { project_id: string }[])
    admitted += await inTransaction(db, (trx) => admitWaiting(trx, projectId, limits));
  return admitted;
}
