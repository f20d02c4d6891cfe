import { Context } from '@temporalio/activity';
import type { Db } from '../db/connect.ts';
import { enterAtTick, type TickProgress } from '../services/workflows/tick.ts';

const SLICE_MS = 5_000;
const HEARTBEAT_MS = 2_000;

export const tickActivities = ({ db, stopping }: { db: Db; stopping: AbortSignal }) => ({
  async enterContacts(workflowId: string, tick: string): Promise<TickProgress> {
    const { cancellationSignal, heartbeat } = Context.current();
    const startedAt = performance.now();
    const isOver = () => performance.now() - startedAt > SLICE_MS || cancellationSignal.aborted || stopping.aborted;
    const heartbeats = setInterval(heartbeat, HEARTBEAT_MS);
    try {
      return await enterAtTick(db, workflowId, tick, isOver);
    } finally {
      clearInterval(heartbeats);
    }
  },
});

export type TickActivities = ReturnType<typeof tickActivities>;
