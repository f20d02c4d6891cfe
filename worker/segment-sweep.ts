import type { Db } from '../db/connect.ts';
import type { Logger } from '../platform/logger.ts';
import { hasTimeDependentSegments } from '../services/segments/sweep.ts';
import type { Temporal } from '../temporal/connection.ts';
import type { NamespaceOwner } from '../temporal/namespace-owner.ts';
import { setSegmentSweep } from '../temporal/schedules.ts';
import { Loop } from './loop.ts';

const CHECK_MS = 10_000;
/** Set again now and then, in case the namespace was lost. */
const REPEAT_MS = 5 * 60_000;

interface SegmentSweepOptions {
  db: Db;
  temporal: Temporal;
  owner: NamespaceOwner;
  log: Logger;
}

/** Lets Temporal sweep segments only while one of them depends on time. */
export function startSegmentSweep({ db, temporal, owner, log }: SegmentSweepOptions): Loop {
  let [sweeps, setAt] = [undefined as boolean | undefined, 0];
  return new Loop({
    ...{ name: 'segment sweep', idleMs: CHECK_MS, troubleMs: CHECK_MS, log },
    round: async () => {
      const wanted = await hasTimeDependentSegments(db);
      if (wanted === sweeps && performance.now() - setAt < REPEAT_MS) return 'idle';
      await owner.verify();
      await setSegmentSweep(temporal, wanted);
      [sweeps, setAt] = [wanted, performance.now()];
      return 'idle';
    },
  });
}
