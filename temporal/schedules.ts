import { ScheduleAlreadyRunning } from '@temporalio/client';
import type { Temporal } from './connection.ts';
import { removeSchedule } from './cron-schedules.ts';
import { taskQueues } from './task-queues.ts';

/** Schedules of the platform itself. */
const schedules = [
  { scheduleId: 'retention', workflowType: 'retention', every: '1 hour' },
  { scheduleId: 'reconciler', workflowType: 'reconciler', every: '3 minutes' },
] as const;
const sweep = { scheduleId: 'segments/sweep', workflowType: 'segmentSweep', every: '1 minute' } as const;

/** Creates the Schedules that do not exist yet. */
export async function ensureSchedules(temporal: Temporal): Promise<void> {
  for (const schedule of schedules) await create(temporal, schedule);
}

/**
 * Sweeps segments every minute while `wanted`. Without time-dependent segments there is no Schedule: each of its runs costs
 * five actions. It is deleted rather than paused, because a version before this rule creates it again and would not continue
 * a paused one.
 */
export async function setSegmentSweep(temporal: Temporal, wanted: boolean): Promise<void> {
  await (wanted ? create(temporal, sweep) : removeSchedule(temporal, sweep.scheduleId));
}

async function create({ client }: Temporal, schedule: (typeof schedules)[number] | typeof sweep): Promise<void> {
  const { scheduleId, workflowType, every } = schedule;
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every }] },
      // A long run is not joined by a second one, and missed runs are not made up for.
      policies: { overlap: 'SKIP', catchupWindow: '1 minute' },
      action: {
        type: 'startWorkflow',
        workflowType,
        workflowId: scheduleId,
        taskQueue: taskQueues.workflows,
        args: [],
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
