import { Context } from '@temporalio/activity';
import type { Db } from '../db/connect.ts';
import { type ErasureProgress, runErasure } from '../services/removal/project-run.ts';

export interface ProjectActivityDeps {
  db: Db;
  /** Aborted when the process shuts down: finish the current chunk only. */
  stopping: AbortSignal;
}

const SLICE_MS = 5_000;
const HEARTBEAT_MS = 2_000;

export const projectActivities = ({ db, stopping }: ProjectActivityDeps) => ({
  async eraseSlice(erasureId: string): Promise<ErasureProgress> {
    const { cancellationSignal, heartbeat } = Context.current();
    const startedAt = performance.now();
    const heartbeats = setInterval(heartbeat, HEARTBEAT_MS);
    try {
      return await runErasure(
        db,
        erasureId,
        () => performance.now() - startedAt > SLICE_MS || cancellationSignal.aborted || stopping.aborted,
      );
    } finally {
      clearInterval(heartbeats);
    }
  },
});

export type ProjectActivities = ReturnType<typeof projectActivities>;
