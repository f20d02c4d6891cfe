import { ScheduleAlreadyRunning } from '@temporalio/client';
import type { Temporal } from './connection.ts';
import { removeSchedule } from './cron-schedules.ts';
import { taskQueues } from './task-queues.ts';

interface PlatformSchedule {
  scheduleId: string;
  workflowType: string;
  everyMs: number;
  /** Also runs when the Schedule is created, as after a namespace was lost. */
  runsAtOnce?: boolean;
}

const MINUTE_MS = 60_000;

/** Schedules of the platform itself. */
const schedules: PlatformSchedule[] = [
  { scheduleId: 'retention', workflowType: 'retention', everyMs: 60 * MINUTE_MS },
  { scheduleId: 'reconciler', workflowType: 'reconciler', everyMs: 3 * MINUTE_MS, runsAtOnce: true },
];
/** Those that exist only while they are wanted. */
const wantedSchedules = {
  segmentSweep: { scheduleId: 'segments/sweep', workflowType: 'segmentSweep', everyMs: MINUTE_MS },
  formTimer: { scheduleId: 'forms/timer', workflowType: 'formTimer', everyMs: MINUTE_MS },
} satisfies Record<string, PlatformSchedule>;
export type WantedSchedule = keyof typeof wantedSchedules;

/** Creates the Schedules that do not exist yet. */
export async function ensureSchedules(temporal: Temporal): Promise<void> {
  for (const schedule of schedules) await ensure(temporal, schedule);
}

/**
 * Runs a Schedule every minute while `wanted`. Each of its runs costs four actions, so there is none without work. It is
 * deleted rather than paused, because a version before this rule creates it again and would not continue a paused one.
 */
export async function setSchedule(temporal: Temporal, name: WantedSchedule, wanted: boolean): Promise<void> {
  const schedule = wantedSchedules[name];
  await (wanted ? ensure(temporal, schedule) : removeSchedule(temporal, schedule.scheduleId));
}

async function ensure({ client }: Temporal, schedule: PlatformSchedule): Promise<void> {
  const { scheduleId, workflowType, everyMs, runsAtOnce = false } = schedule;
  const options = {
    spec: { intervals: [{ every: everyMs }] },
    // A long run is not joined by a second one, and missed runs are not made up for.
    policies: { overlap: 'SKIP' as const, catchupWindow: MINUTE_MS },
    action: {
      type: 'startWorkflow' as const,
      workflowType,
      workflowId: scheduleId,
      taskQueue: taskQueues.workflows,
      args: [],
    },
  };
  try {
    await client.schedule.create({ scheduleId, ...options, state: { triggerImmediately: runsAtOnce } });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const handle = client.schedule.getHandle(scheduleId);
    const { spec } = await handle.describe();
    // Created by a version with another interval. Pauses by an operator are kept.
    if (spec.intervals?.[0]?.every !== everyMs) await handle.update(({ state }) => ({ ...options, state }));
  }
}
