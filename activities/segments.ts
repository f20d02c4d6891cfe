import { Context } from '@temporalio/activity';
import type { Db } from '../db/connect.ts';
import { sweepDrifting } from '../services/segments/sweep.ts';

const BEAT_MS = 2_000;

export const segmentActivities = ({ db }: { db: Db }) => ({
  async sweepSegments(): Promise<{ entered: number; left: number }> {
    const beating = setInterval(Context.current().heartbeat, BEAT_MS);
    try {
      return await sweepDrifting(db);
    } finally {
      clearInterval(beating);
    }
  },
});

export type SegmentActivities = ReturnType<typeof segmentActivities>;
