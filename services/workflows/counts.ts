import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { type RangeQuery, readRange } from '../range.ts';
import { findWorkflow } from './find.ts';

// The numbers of workflows and steps, exactly and without reading executions: database functions append deltas in the
// statement of every step, and housekeeping aggregates them. Readers add the deltas that are left, in one snapshot. See
// docs/decisions/counts.md.

export interface StepStats {
  entered: number;
  /** Executions that are at the step now. */
  waiting: number;
  passed: number;
  failed: number;
  skipped: number;
  /** Of those that passed; within 10 %. Null when none did. */
  medianSeconds: number | null;
  branches: Record<string, number>;
  /** Of a step that sends mail. */
  mail?: Record<(typeof mailResults)[number], number>;
}

export interface WorkflowStats {
  executions: Record<(typeof executionResults)[number] | 'started' | 'active', number>;
  steps: Record<string, StepStats>;
}

export const executionResults = ['completed', 'exited', 'failed', 'cancelled'] as const;
export const mailResults = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'unsubscribed'] as const;

const NIL = '00000000-0000-0000-0000-000000000000';

interface CountRow {
  step_id: string;
  name: string;
  /** In the range. */
  count: number;
  /** Of all days. */
  total: number;
}

const read = statement<CountRow>(
  'workflow-counts',
  `select step_id, name, coalesce(sum(count) filter (where ($4::date is null or day >= $4::date)
       and ($5::date is null or day < $5::date)), 0)::float8 as count, sum(count)::float8 as total
   from (
     select version, step_id, day, name, count from workflow_counts where project_id = $1 and workflow_id = $2
     union all
     select version, step_id, day, unnest(names), delta from workflow_count_deltas
     where project_id = $1 and workflow_id = $2
   ) counted
   where $3::integer is null or version = $3::integer
   group by step_id, name`,
);

export interface StatsQuery extends RangeQuery {
  version?: number | undefined;
}

/**
 * Returns the numbers of a workflow and of the steps that were ever entered. A range selects the days on which something
 * happened; who is active or waiting is the number of now.
 */
export async function readWorkflowStats(
  db: Db,
  projectId: string,
  workflowId: string,
  query: StatsQuery,
): Promise<WorkflowStats> {
  await findWorkflow(db, projectId, workflowId);
  const { from, to } = readRange(query);
  const day = (at: Date | undefined) => at?.toISOString().slice(0, 10) ?? null;
  const end = to && new Date(to.getTime() + DAY - 1);
  const rows = await read(db, [projectId, workflowId, query.version ?? null, day(from), day(end)]);
  const ofStep = new Map<string, CountRow[]>();
  for (const row of rows) ofStep.set(row.step_id, [...(ofStep.get(row.step_id) ?? []), row]);
  const own = countsOf(ofStep.get(NIL));
  const results = Object.fromEntries(executionResults.map((name) => [name, own.inRange(name)]));
  const ended = executionResults.reduce((sum, name) => sum + own.ever(name), 0);
  ofStep.delete(NIL);
  return {
    executions: {
      ...(results as Record<(typeof executionResults)[number], number>),
      started: own.inRange('started'),
      active: own.ever('started') + own.ever('moved_in') - own.ever('moved_out') - ended,
    },
    steps: Object.fromEntries([...ofStep].map(([stepId, counts]) => [stepId, stepStats(counts)])),
  };
}

const DAY = 86_400_000;

const countsOf = (rows: CountRow[] = []) => {
  const byName = new Map(rows.map((row) => [row.name, row]));
  return {
    inRange: (name: string): number => byName.get(name)?.count ?? 0,
    ever: (name: string): number => byName.get(name)?.total ?? 0,
  };
};

function stepStats(rows: CountRow[]): StepStats {
  const { inRange, ever } = countsOf(rows);
  const named = (prefix: string) =>
    rows.flatMap(({ name, count }) => (name.startsWith(prefix) ? [[name.slice(prefix.length), count] as const] : []));
  const mail = named('mail:');
  return {
    entered: inRange('entered'),
    passed: inRange('passed'),
    waiting: ever('entered') + ever('moved_in') - ever('moved_out') - ever('left'),
    failed: inRange('failed'),
    skipped: inRange('skipped'),
    medianSeconds: medianSeconds(named('time:').map(([bucket, count]) => [Number(bucket), count])),
    branches: Object.fromEntries(named('branch:').filter(([, count]) => count > 0)),
    ...(mail.length > 0 && {
      mail: Object.fromEntries(mailResults.map((name) => [name, inRange(`mail:${name}`)])) as Record<
        (typeof mailResults)[number],
        number
      >,
    }),
  };
}

/** Growth of the buckets of `time_bucket`. */
const GROWTH = 1.2;

function medianSeconds(buckets: [bucket: number, count: number][]): number | null {
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  if (total <= 0) return null;
  let before = 0;
  for (const [bucket, count] of buckets.toSorted(([a], [b]) => a - b)) {
    before += count;
    if (before >= total / 2) return bucket < 0 ? 0 : Number((GROWTH ** (bucket + 0.5) / 1000).toPrecision(4));
  }
  return null;
}

/** CTEs that count the rows of the CTE `moved (version, current_step_id)`, which went to another version. */
export const countMoved = (projectId: string, workflowId: string, version: string): string => `
   moves as (
     select version, step_id, count(*) as count from moved,
       lateral (values ('${NIL}'::uuid), (current_step_id)) as counted (step_id)
     where step_id is not null group by version, step_id
   ),
   counted_moves as (
     insert into workflow_count_deltas (project_id, workflow_id, version, step_id, day, names, delta)
     select ${projectId}, ${workflowId}, v, step_id, (now() at time zone 'UTC')::date, array[name], count
     from moves, lateral (values (moves.version, 'moved_out'), (${version}::integer, 'moved_in')) as side (v, name)
   )`;

const AGGREGATION_LOCK = 0x776f726b; // "work"
const BATCH_SIZE = 20_000;

// One process at a time. Drops the deltas of workflows that no longer exist.
const aggregate = statement<{ aggregated: number }>(
  'workflow-counts-aggregate',
  `with aggregation_lock as materialized (select pg_try_advisory_xact_lock(${AGGREGATION_LOCK}) as locked),
   deltas as (
     delete from workflow_count_deltas where ctid = any (array(
       select d.ctid from workflow_count_deltas d where (select locked from aggregation_lock) limit $1 for update))
     returning *
   ),
   counted as (
     insert into workflow_counts as c (project_id, workflow_id, version, step_id, day, name, count)
     select d.project_id, d.workflow_id, d.version, d.step_id, d.day, counted_name, sum(d.delta)
     from deltas d join workflows w on w.id = d.workflow_id, unnest(d.names) as counted_name
     group by 1, 2, 3, 4, 5, 6 order by 2, 3, 4, 5, 6
     on conflict (workflow_id, version, step_id, day, name) do update set count = c.count + excluded.count
   )
   select count(*)::integer as aggregated from deltas`,
);

/** Housekeeping: aggregates all deltas. Safe to run in several processes at once. */
export async function aggregateWorkflowCounts(db: Db): Promise<number> {
  let total = 0;
  for (;;) {
    const aggregated = (await aggregate(db, [BATCH_SIZE]))[0]?.aggregated ?? 0;
    total += aggregated;
    if (aggregated < BATCH_SIZE) return total;
  }
}
