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

/** Creates a Schedule or replaces its options. */
export async function setCronSchedule({ client }: Temporal, scheduleId: string, wanted: CronSchedule): Promise<void> {
  const { cron, timezone, paused, workflowType, args, projectId, resourceId } = wanted;
  const pairs = [
    ...(projectId ? [{ key: attributeKeys.projectId, value: projectId }] : []),
    ...(resourceId ? [{ key: attributeKeys.resourceId, value: resourceId }] : []),
  ];
  const options = {
    spec: { cronExpressions: expressionsOf(cron), timezone: properName(timezone) },
    // A tick during the run of the previous one follows it. Ticks that an outage has missed are made up for.
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

/** With both days given, a crontab fires on either, but Temporal only when both match: so it gets two expressions. */
export function expressionsOf(cron: string): string[] {
  const [minute, hour, day = '*', month, weekday = '*'] = cron.trim().split(/\s+/);
  if (day.startsWith('*') || weekday.startsWith('*')) return [cron];
  return [`${minute} ${hour} ${day} ${month} *`, `${minute} ${hour} * ${month} ${weekday}`];
}

/** Temporal accepts time zones by their exact names only; clients also send `utc`. */
const properName = (timezone: string): string =>
  new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone;

export async function removeSchedule({ client }: Temporal, scheduleId: string): Promise<void> {
  try {
    await client.schedule.getHandle(scheduleId).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}
