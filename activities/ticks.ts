import { Context } from '@temporalio/activity';
import type { Db } from '../db/connect.ts';
import { enterAtTick, type TickProgress } from '../services/workflows/tick.ts';
import { withHeartbeats } from './heartbeats.ts';

const SLICE_MS = 5_000;

export const tickActivities = ({ db, stopping }: { db: Db; stopping: AbortSignal }) => ({
  async enterContacts(workflowId: string, tick: string): Promise<TickProgress> {
    const { cancellationSignal } = Context.current();
    const startedAt = performance.now();
    const isOver = () => performance.now() - startedAt > SLICE_MS || cancellationSignal.aborted || stopping.aborted;
    return withHeartbeats(() => enterAtTick(db, workflowId, tick, isOver));
  },
});

export type TickActivities = ReturnType<typeof tickActivities>;
