import { ScheduleAlreadyRunning, ScheduleNotFoundError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { Temporal } from './connection.ts';
import { attributeKeys } from './search-attributes.ts';
import { taskQueues } from './task-queues.ts';

export interface CronSchedule {
  cron: string;
  timezone: string;
  paused: boolean;
  workflowType: string;
  args: unknown[];
  projectId?: string | undefined;
  resourceId?: string | undefined;
}

/** Makes a Schedule, or changes it to this, whatever it was. */
export async function setCronSchedule({ client }: Temporal, scheduleId: string, wanted: CronSchedule): Promise<void> {
  const { cron, timezone, paused, workflowType, args, projectId, resourceId } = wanted;
  const pairs = [
    ...(projectId ? [{ key: attributeKeys.projectId, value: projectId }] : []),
    ...(resourceId ? [{ key: attributeKeys.resourceId, value: resourceId }] : []),
  ];
  const options = {
    spec: { cronExpressions: expressionsOf(cron), timezone: properName(timezone) },
    // A tick that falls into the work of the one before comes right after it; what an outage has swallowed is made up.
    policies: { overlap: 'BUFFER_ONE' as const, catchupWindow: '1 day' as const },
    action: {
      type: 'startWorkflow' as const,
      workflowType,
      workflowId: scheduleId,
      taskQueue: taskQueues.workflows,
      args,
      typedSearchAttributes: new TypedSearchAttributes(pairs),
    },
    state: { paused },
  };
  try {
    await client.schedule.create({ scheduleId, ...options });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule.getHandle(scheduleId).update(() => options);
  }
}

/** Where both days are given, either makes it come true, as in a crontab; Temporal would want both at once. */
export function expressionsOf(cron: string): string[] {
  const [minute, hour, day = '*', month, weekday = '*'] = cron.trim().split(/\s+/);
  if (day.startsWith('*') || weekday.startsWith('*')) return [cron];
  return [`${minute} ${hour} ${day} ${month} *`, `${minute} ${hour} * ${month} ${weekday}`];
}

/** Temporal knows time zones by their exact names alone, and people write `utc` too. */
const properName = (timezone: string): string =>
  new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone;

export async function removeSchedule({ client }: Temporal, scheduleId: string): Promise<void> {
  try {
    await client.schedule.getHandle(scheduleId).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}
