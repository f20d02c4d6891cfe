import type { Db } from '../../db/connect.ts';
import { aggregateEventDeltas } from '../../db/models/event-counts.ts';

/** With more deltas than this a reader aggregates some itself, in case no worker does. */
const MAX_PENDING = 2_000;
const BATCH_SIZE = 10_000;

export async function aggregateEventBacklog(db: Db, projectId: string, pending: number): Promise<void> {
  if (pending > MAX_PENDING) await aggregateEventDeltas(db, BATCH_SIZE, projectId);
}

/** Housekeeping: aggregates the deltas of all projects. Safe to run in several processes at once. */
export async function aggregateEventCounts(db: Db): Promise<number> {
  let total = 0;
  for (;;) {
    const aggregated = await aggregateEventDeltas(db, BATCH_SIZE);
    total += aggregated;
    if (aggregated < BATCH_SIZE) return total;
  }
}
