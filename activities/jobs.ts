import { Context } from '@temporalio/activity';
import type { Db } from '../db/connect.ts';
import type { Limits } from '../platform/limits.ts';
import { failJob, type JobProgress, runSlice } from '../services/jobs/run.ts';
import { FailureCounter } from './failure-counter.ts';

export interface JobActivityDeps {
  db: Db;
  /** The process is to end: finish the chunk that is under way and no more. */
  stopping: AbortSignal;
  /** Per project. */
  projectLimits?: Limits;
}

const SLICE_MS = 5_000;
const BEAT_MS = 2_000;

/**
 * A slice of an import reads the file from its start to find its place. The longer that took, the longer it stays: the
 * way is a fifth of the time at most, and the whole import never the square of its rows.
 */
export const sliceMs = (wayMs: number): number => Math.max(SLICE_MS, 5 * wayMs);

export const jobActivities = ({ db, stopping, projectLimits }: JobActivityDeps) => {
  const failures = new FailureCounter();
  return {
    async runJobSlice(jobId: string): Promise<JobProgress> {
      const { cancellationSignal, heartbeat } = Context.current();
      const began = Date.now();
      const isOver = (wayMs: number) =>
        Date.now() - began > sliceMs(wayMs) || cancellationSignal.aborted || stopping.aborted;
      // Says that we live; how far the job has got stands in its row.
      const beating = setInterval(heartbeat, BEAT_MS);
      try {
        const progress = await runSlice(db, jobId, isOver, projectLimits);
        failures.succeeded(jobId);
        return progress;
      } catch (error) {
        if (!failures.isFinal(jobId, error)) throw error;
        await failJob(db, jobId, error instanceof Error ? error.message : String(error), projectLimits);
        return { ended: true, processed: 0, total: 0 };
      } finally {
        clearInterval(beating);
      }
    },
  };
};

export type JobActivities = ReturnType<typeof jobActivities>;
