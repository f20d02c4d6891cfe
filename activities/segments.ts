import { Context } from '@temporalio/activity';
import type { Db } from '../db/connect.ts';
import { sweepTimeDependentSegments } from '../services/segments/sweep.ts';

const HEARTBEAT_MS = 2_000;

export const segmentActivities = ({ db }: { db: Db }) => ({
  async sweepSegments(): Promise<{ entered: number; left: number }> {
    const heartbeats = setInterval(Context.current().heartbeat, HEARTBEAT_MS);
    try {
      return await sweepTimeDependentSegments(db);
    } finally {
      clearInterval(heartbeats);
    }
  },
});

export type SegmentActivities = ReturnType<typeof segmentActivities>;
