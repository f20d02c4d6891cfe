import { Context } from '@temporalio/activity';
import type { Db } from '../db/connect.ts';
import { type ErasureProgress, runErasure } from '../services/removal/project-run.ts';
import { withHeartbeats } from './heartbeats.ts';

export interface ProjectActivityDeps {
  db: Db;
  /** Aborted when the process shuts down: finish the current chunk only. */
  stopping: AbortSignal;
}

const SLICE_MS = 5_000;

export const projectActivities = ({ db, stopping }: ProjectActivityDeps) => ({
  async eraseSlice(erasureId: string): Promise<ErasureProgress> {
    const { cancellationSignal } = Context.current();
    const startedAt = performance.now();
    const isOver = () => performance.now() - startedAt > SLICE_MS || cancellationSignal.aborted || stopping.aborted;
    return withHeartbeats(() => runErasure(db, erasureId, isOver));
  },
});

export type ProjectActivities = ReturnType<typeof projectActivities>;
