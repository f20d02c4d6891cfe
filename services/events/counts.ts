import type { Db } from '../../db/connect.ts';
import { aggregateActivityDeltas } from '../../db/models/activity-counts.ts';
import { aggregateEventDeltas } from '../../db/models/event-counts.ts';

/** So many notes are no burden to a reader; beyond, it folds some itself and does not rely on a worker to do it. */
const BURDEN = 2_000;
const FOLD_AT_ONCE = 10_000;

export async function lightenEventCounts(db: Db, projectId: string, pending: number): Promise<void> {
  if (pending > BURDEN) await aggregateEventDeltas(db, FOLD_AT_ONCE, projectId);
}

/** Housekeeping: adds up what has been noted of all projects. Any number of processes may do it at any time. */
export async function foldCounts(db: Db): Promise<number> {
  let folded = 0;
  for (const fold of [aggregateEventDeltas, aggregateActivityDeltas])
    for (;;) {
      const now = await fold(db, FOLD_AT_ONCE);
      folded += now;
      if (now < FOLD_AT_ONCE) break;
    }
  return folded;
}
