import type { Db } from '../db/connect.ts';
import type { Logger } from '../platform/logger.ts';
import type { Timings } from '../platform/timings.ts';
import { hasWaitingSubmissions } from '../services/forms/due.ts';
import { hasTimeDependentSegments } from '../services/segments/sweep.ts';
import type { Temporal } from '../temporal/connection.ts';
import type { NamespaceOwner } from '../temporal/namespace-owner.ts';
import { setSchedule, type WantedSchedule } from '../temporal/schedules.ts';
import { Loop } from './loop.ts';

interface WantedScheduleOptions {
  db: Db;
  temporal: Temporal;
  owner: NamespaceOwner;
  timings: Timings;
  log: Logger;
}

/** Schedules that exist only while there is something for them to do: each of their runs costs four actions. */
const wantedSchedules: Record<WantedSchedule, (db: Db) => Promise<boolean>> = {
  segmentSweep: hasTimeDependentSegments,
  formTimer: hasWaitingSubmissions,
};

/** Lets Temporal sweep segments only while one depends on time, and time submissions only while one waits. */
export function startWantedSchedules(options: WantedScheduleOptions): { stop(): Promise<unknown> } {
  const loops = (Object.keys(wantedSchedules) as WantedSchedule[]).map((name) => startOne(name, options));
  return { stop: () => Promise.all(loops.map((loop) => loop.stop())) };
}

function startOne(name: WantedSchedule, { db, temporal, owner, timings, log }: WantedScheduleOptions): Loop {
  const { segmentSweep: idleMs, segmentSweepRepeat: repeatMs } = timings.worker;
  let isSet = undefined as boolean | undefined;
  let setAt = 0;
  return new Loop({
    name: `schedule ${name}`,
    idleMs,
    troubleMs: idleMs,
    log,
    round: async () => {
      const wanted = await wantedSchedules[name](db);
      // Set again now and then, in case the namespace was lost.
      if (wanted === isSet && performance.now() - setAt < repeatMs) return 'idle';
      await owner.verify();
      await setSchedule(temporal, name, wanted);
      isSet = wanted;
      setAt = performance.now();
      return 'idle';
    },
  });
}
