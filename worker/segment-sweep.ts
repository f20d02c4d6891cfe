import type { Db } from '../db/connect.ts';
import type { Logger } from '../platform/logger.ts';
import type { Timings } from '../platform/timings.ts';
import { hasTimeDependentSegments } from '../services/segments/sweep.ts';
import type { Temporal } from '../temporal/connection.ts';
import type { NamespaceOwner } from '../temporal/namespace-owner.ts';
import { setSegmentSweep } from '../temporal/schedules.ts';
import { Loop } from './loop.ts';

interface SegmentSweepOptions {
  db: Db;
  temporal: Temporal;
  owner: NamespaceOwner;
  timings: Timings;
  log: Logger;
}

/** Lets Temporal sweep segments only while one of them depends on time. */
export function startSegmentSweep({ db, temporal, owner, timings, log }: SegmentSweepOptions): Loop {
  const { segmentSweep: idleMs, segmentSweepRepeat } = timings.worker;
  let sweeps = undefined as boolean | undefined;
  let setAt = 0;
  return new Loop({
    name: 'segment sweep',
    idleMs,
    troubleMs: idleMs,
    log,
    round: async () => {
      const wanted = await hasTimeDependentSegments(db);
      // Set again now and then, in case the namespace was lost.
      if (wanted === sweeps && performance.now() - setAt < segmentSweepRepeat) return 'idle';
      await owner.verify();
      await setSegmentSweep(temporal, wanted);
      sweeps = wanted;
      setAt = performance.now();
      return 'idle';
    },
  });
}
