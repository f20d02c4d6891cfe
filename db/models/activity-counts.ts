import { type Db, inTransaction } from '../connect.ts';
import { statement } from '../statement.ts';

// Counts what happened to mails and executions, by the hour. See docs/decisions/counts.md.

export const activityKinds = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'humanOpened',
  'humanClicked',
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

const columnOf: Partial<Record<ActivityKind, string>> = {
  humanOpened: 'human_opened',
  humanClicked: 'human_clicked',
  started: 'workflows_started',
  completed: 'workflows_completed',
};
const column = (kind: ActivityKind): string => columnOf[kind] ?? kind;
const columns = activityKinds.map(column).join(', ');
const each = (text: (kind: ActivityKind, column: string) => string): string =>
  activityKinds.map((kind) => text(kind, column(kind))).join(', ');

const summedByHour = (deltas: string): string => `
  select project_id, date_trunc('hour', at, 'UTC') as hour,
    ${each((kind, column) => `coalesce(sum(delta) filter (where kind = '${kind}'), 0) as ${column}`)}
  from ${deltas} group by 1, 2`;

const AGGREGATION_LOCK = 0x61637476; // "actv"
const tryLock = statement<{ locked: boolean }>(
  'activity-counts-lock',
  'select pg_try_advisory_xact_lock($1) as locked',
);

const aggregate = statement<{ aggregated: number }>(
  'activity-counts-aggregate',
  `with deltas as (
     delete from activity_deltas where ctid = any (array(select ctid from activity_deltas limit $1))
     returning project_id, kind, at, delta
   ),
   human_deltas as (
     delete from human_activity_deltas where ctid = any (array(select ctid from human_activity_deltas limit $1))
     returning project_id, kind, at, delta
   ),
   all_deltas as (select * from deltas union all select * from human_deltas),
   hours as (
     insert into activity_hours as h (project_id, hour, ${columns})
     ${summedByHour('all_deltas')} order by 1, 2
     on conflict (project_id, hour) do update set
       ${each((_, column) => `${column} = h.${column} + excluded.${column}`)}
   )
   select count(*)::integer as aggregated from all_deltas`,
);

/** Aggregates at most `limit` deltas and returns how many. 0: there are none, or another process aggregates. */
export async function aggregateActivityDeltas(db: Db, limit: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    const [lock] = await tryLock(trx, [AGGREGATION_LOCK]);
    if (!lock?.locked) return 0;
    const [row] = await aggregate(trx, [limit]);
    return row?.aggregated ?? 0;
  });
}

const read = statement<{ at: Date } & Record<ActivityKind, string>>(
  'activity-counts',
  `select date_trunc($4, hour, 'UTC') as at, ${each((kind, column) => `sum(${column}) as "${kind}"`)}
   from (
     select hour, ${columns} from activity_hours where project_id = $1 and hour >= $2 and hour < $3
     union all
     select hour, ${columns}
     from (${summedByHour(`(
       select project_id, kind, at, delta from activity_deltas where project_id = $1 and at >= $2 and at < $3
       union all
       select project_id, kind, at, delta from human_activity_deltas where project_id = $1 and at >= $2 and at < $3
     ) recent`)}) deltas
   ) parts
   group by 1 order by 1`,
);

/** Returns the counts by UTC hour or day, in order, without the empty ones. Exact for a range of whole hours. */
export async function readActivityCounts(
  db: Db,
  projectId: string,
  { from, to }: { from: Date; to: Date },
  granularity: 'hour' | 'day',
): Promise<{ at: Date; counts: ActivityCounts }[]> {
  const rows = await read(db, [projectId, from, to, granularity]);
  return rows.map(({ at, ...counts }) => ({
    at,
    counts: Object.fromEntries(activityKinds.map((kind) => [kind, Number(counts[kind])])) as ActivityCounts,
  }));
}

const executions = statement<{ started: string; completed: string }>(
  'activity-counts-executions',
  `select coalesce(sum(started), 0) as started, coalesce(sum(completed), 0) as completed from (
     select workflows_started as started, workflows_completed as completed from activity_hours
     where project_id = $1 and hour >= $2 and hour < $3
     union all
     select case kind when 'started' then delta end, case kind when 'completed' then delta end from activity_deltas
     where project_id = $1 and kind in ('started', 'completed') and at >= $2 and at < $3
     union all
     select -started, -completed from removed_execution_hours where project_id = $1 and hour >= $2 and hour < $3
   ) parts`,
);

/** Counts the executions that are still there, in a range of whole hours. */
export async function countExecutions(
  db: Db,
  projectId: string,
  { from, to }: { from: Date; to: Date },
): Promise<{ started: number; completed: number }> {
  const [row] = await executions(db, [projectId, from, to]);
  return { started: Number(row?.started ?? 0), completed: Number(row?.completed ?? 0) };
}
