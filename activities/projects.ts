import { Context } from '@temporalio/activity';
import type { Db } from '../db/connect.ts';
import { type ErasureProgress, runErasure } from '../services/removal/project-run.ts';

export interface ProjectActivityDeps {
  db: Db;
  /** The process is to end: finish the chunk that is under way and no more. */
  stopping: AbortSignal;
}

const SLICE_MS = 5_000;
const BEAT_MS = 2_000;

export const projectActivities = ({ db, stopping }: ProjectActivityDeps) => ({
  async eraseSlice(erasureId: string): Promise<ErasureProgress> {
    const { cancellationSignal, heartbeat } = Context.current();
    const began = Date.now();
    const beating = setInterval(heartbeat, BEAT_MS);
    try {
      return await runErasure(
        db,
        erasureId,
        () => Date.now() - began > SLICE_MS || cancellationSignal.aborted || stopping.aborted,
      );
    } finally {
      clearInterval(beating);
    }
  },
});

export type ProjectActivities = ReturnType<typeof projectActivities>;
