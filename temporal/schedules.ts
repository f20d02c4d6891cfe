import { ScheduleAlreadyRunning } from '@temporalio/client';
import type { Temporal } from './connection.ts';
import { taskQueues } from './task-queues.ts';

/** Schedules of the platform itself. */
const schedules = [
  { scheduleId: 'segments/sweep', workflowType: 'segmentSweep', every: '1 minute' },
  { scheduleId: 'retention', workflowType: 'retention', every: '1 hour' },
  { scheduleId: 'reconciler', workflowType: 'reconciler', every: '3 minutes' },
] as const;

/** Creates the Schedules that do not exist yet. */
export async function ensureSchedules(temporal: Temporal): Promise<void> {
  for (const schedule of schedules) await create(temporal, schedule);
}

async function create({ client }: Temporal, schedule: (typeof schedules)[number]): Promise<void> {
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
