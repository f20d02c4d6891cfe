import { Context } from '@temporalio/activity';
import type { Db } from '../db/connect.ts';
import type { Limits } from '../platform/limits.ts';
import { failJob, type JobProgress, runSlice } from '../services/jobs/run.ts';
import { FailureCounter } from './failure-counter.ts';
import { withHeartbeats } from './heartbeats.ts';

export interface JobActivityDeps {
  db: Db;
  /** Aborted when the process shuts down: finish the current chunk only. */
  stopping: AbortSignal;
  /** Limits per project. */
  projectLimits?: Limits;
}

const SLICE_MS = 5_000;

export const jobActivities = ({ db, stopping, projectLimits }: JobActivityDeps) => {
  const failures = new FailureCounter();
  return {
    async runJobSlice(jobId: string): Promise<JobProgress> {
      const { cancellationSignal } = Context.current();
      const startedAt = performance.now();
      const isOver = () => performance.now() - startedAt > SLICE_MS || cancellationSignal.aborted || stopping.aborted;
      try {
        // Without details: the job's row has its progress.
        const progress = await withHeartbeats(() => runSlice(db, jobId, isOver, projectLimits));
        failures.succeeded(jobId);
        return progress;
      } catch (error) {
        if (!failures.isFinal(jobId, error)) throw error;
        await failJob(db, jobId, error instanceof Error ? error.message : String(error), projectLimits);
        return { ended: true, processed: 0, total: 0 };
      }
    },
  };
};

export type JobActivities = ReturnType<typeof jobActivities>;
