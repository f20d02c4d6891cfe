import { lockName } from '../../db/advisory-lock.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Limits } from '../../platform/limits.ts';
import { workflowIds } from '../outbox/ids.ts';
import { writeOutboxMessage } from '../outbox/write.ts';

// A project has a number of slots for running jobs; other jobs wait as QUEUED rows. The Temporal workflow of a waiting job is
// started in the transaction that frees a slot, so waiting jobs cost Temporal nothing and survive a crash.

type JobLimits = Pick<Limits, 'openJobs' | 'runningJobs'>;

/** Serializes the counting of a project's jobs until the transaction ends. */
async function lockJobs(trx: Db, projectId: string): Promise<void> {
  await lockName(trx, `jobs/${projectId}`);
}

const countOpen = statement<{ open: number }>(
  'jobs-open',
  `select count(*)::integer as open from jobs where project_id = $1 and status in ('QUEUED', 'RUNNING')`,
);

const admit = statement<{ id: string }>(
  'jobs-admit',
  `with open as (
     select count(*) as jobs from jobs
     where project_id = $1 and status in ('QUEUED', 'RUNNING') and admitted_at is not null
   )
   update jobs set admitted_at = now() where id = any (array(
     select id from jobs where project_id = $1 and status = 'QUEUED' and admitted_at is null
     order by id limit (select greatest($2 - jobs, 0) from open) for update skip locked))
   returning id`,
);

const findWaiting = statement<{ projectId: string }>(
  'jobs-waiting',
  `select distinct project_id from jobs where status = 'QUEUED' and admitted_at is null`,
);

/** Rejects a job above the limit. Keeps the lock for the insert that follows. */
export async function requireRoomForJob(trx: Db, projectId: string, { openJobs }: JobLimits): Promise<void> {
  await lockJobs(trx, projectId);
  const [row] = await countOpen(trx, [projectId]);
  if (row && row.open >= openJobs)
    throw new ApiError(409, 'CONFLICT', `This project has reached the limit of ${openJobs} open jobs.`, {
      suggestion: 'Wait for one to finish, or cancel one with POST /contacts/jobs/:jobId/cancel.',
    });
}

/**
 * Starts as many waiting jobs as there are free slots, the oldest first. Skips locked rows, so that it waits for none while
 * it has the lock: the other transaction is cancelling the job, and admits the next one itself.
 */
export async function admitWaiting(trx: Db, projectId: string, { runningJobs }: JobLimits): Promise<number> {
  await lockJobs(trx, projectId);
  const admitted = await admit(trx, [projectId, runningJobs]);
  for (const { id } of admitted)
    await writeOutboxMessage(trx, {
      queue: 'starts',
      action: 'start',
      workflowType: 'job',
      workflowId: workflowIds.job(projectId, id),
      args: [{ jobId: id }],
      projectId,
      resourceId: id,
    });
  return admitted.length;
}

/** Housekeeping: fills slots that became free without an end of a job: the limit was raised, or rows were deleted. */
export async function admitAllWaiting(db: Db, limits: JobLimits): Promise<number> {
  let admitted = 0;
  for (const { projectId } of await findWaiting(db))
    admitted += await inTransaction(db, (trx) => admitWaiting(trx, projectId, limits));
  return admitted;
}
