import type { Db } from '../connect.ts';
import { statement } from '../statement.ts';
import { countedHours, type HourRange, hourRange } from './counters.ts';

// Counts what happened to mails and executions, as the subject `activity`, by the hour and the day: triggers of `emails` and
// `executions` append the deltas. See docs/decisions/counts.md.

export const activityKinds = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'humanOpened',
  'humanClicked',
  'peopleOpened',
  'bounced',
  'refused',
  'complained',
  'started',
  'completed',
] as const;
export type ActivityKind = (typeof activityKinds)[number];
export type ActivityCounts = Record<ActivityKind, number>;

export const noActivity = Object.freeze(
  Object.fromEntries(activityKinds.map((kind) => [kind, 0])) as ActivityCounts,
) as Readonly<ActivityCounts>;

const sum = (name: string): string => `coalesce(sum((counts ->> '${name}')::bigint), 0)`;

const read = statement<{ at: Date } & Record<ActivityKind, string>>(
  'activity-counts',
  `select date_trunc($6, period, 'UTC') as at, ${activityKinds.map((kind) => `${sum(kind)} as "${kind}"`).join(', ')}
   from ${countedHours('activity')} group by 1 order by 1`,
);

/** Returns the counts by UTC hour or day, in order, without the empty ones. Exact for a range of whole hours. */
export async function readActivityCounts(
  db: Db,
  projectId: string,
  range: HourRange,
  granularity: 'hour' | 'day',
): Promise<{ at: Date; counts: ActivityCounts }[]> {
  const [from, to, ...days] = hourRange(range);
  const rows = await read(db, [projectId, from, to, ...(granularity === 'day' ? days : [to, to]), granularity]);
  return rows.map(({ at, ...counts }) => ({
    at,
    counts: Object.fromEntries(activityKinds.map((kind) => [kind, Number(counts[kind])])) as ActivityCounts,
  }));
}

const executions = statement<{ started: string; completed: string }>(
  'activity-counts-executions',
  `select ${sum('started')} - ${sum('startedRemoved')} as started,
     ${sum('completed')} - ${sum('completedRemoved')} as completed
   from ${countedHours('activity')}`,
);

/** Counts the executions that are still there, in a range of whole hours. */
export async function countExecutions(
  db: Db,
  projectId: string,
  range: HourRange,
): Promise<{ started: number; completed: number }> {
  const [row] = await executions(db, [projectId, ...hourRange(range)]);
  return { started: Number(row?.started ?? 0), completed: Number(row?.completed ?? 0) };
}

const RATE_HOURS = "date_trunc('day', now() - interval '31 days', 'UTC')";

/**
 * SQL: what the rates of a project depend on, `(hour, sent, refused, bounced, complained)`: by the hour for 31 days, by the day
 * before. Includes what `past_rate_hours` has from before a reset.
 */
export const rateHours = (projectId: string): string => `(
  select period as hour, ${['sent', 'refused', 'bounced', 'complained']
    .map((name) => `coalesce((counts ->> '${name}')::bigint, 0) as ${name}`)
    .join(', ')}
  from (
    select period, counts from counters where project_id = ${projectId} and subject = 'activity/hours' and period >= ${RATE_HOURS}
    union all
    select period, counts from counters where project_id = ${projectId} and subject = 'activity/days' and period < ${RATE_HOURS}
    union all
    select period, counts from counter_deltas where project_id = ${projectId} and subject = 'activity/hours'
  ) counted
  union all
  select hour, sent, refused, bounced, complained from past_rate_hours where project_id = ${projectId}
)`;
