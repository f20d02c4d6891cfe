import type { Db } from '../db/connect.ts';
import { sweepTimeDependentSegments } from '../services/segments/sweep.ts';
import { withHeartbeats } from './heartbeats.ts';

export const segmentActivities = ({ db }: { db: Db }) => ({
  sweepSegments: (): Promise<{ entered: number; left: number }> => withHeartbeats(() => sweepTimeDependentSegments(db)),
});

export type SegmentActivities = ReturnType<typeof segmentActivities>;
