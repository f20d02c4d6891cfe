import type { Db } from '../../db/connect.ts';
import { Job } from '../../db/models/job.ts';
import type { ServiceProcess } from './processes.ts';
import { eventually } from './waiting.ts';

/** Longer than a busy machine needs for a job. */
export const JOB_TIMEOUT = { timeoutMs: 150_000 };

/**
 * Kills the worker when a job is as far as `isThere` wants. Its row is locked then, so that the job cannot end before the
 * worker dies.
 */
export async function killMidway(
  db: Db,
  jobId: string,
  worker: ServiceProcess,
  isThere: (job: Job, trx: Db) => unknown,
): Promise<Job> {
  const lock = await eventually(
    async () => {
      const trx = await db.transaction();
      const job = await Job.query(trx).findById(jobId).forUpdate().throwIfNotFound();
      if (await isThere(job, trx)) return trx;
      await trx.rollback();
      return false;
    },
    { ...JOB_TIMEOUT, what: 'the first part of the job' },
  );
  await worker.kill();
  const midway = await Job.query(lock).findById(jobId).throwIfNotFound();
  await lock.rollback();
  return midway;
}
