import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { type RangeQuery, readRange } from '../range.ts';
import { findWorkflow } from './find.ts';

// The numbers of workflows and steps, exactly and without reading executions: database functions append deltas in the
// statement of every step. The subject is `workflow/<id>/days`, of which the aggregator makes the totals `workflow/<id>` as
// well; the part is `<version>` for the workflow itself, or `<version>/<step id>`. See docs/decisions/counts.md.

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
export const mailResults = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  // Opened or clicked, and clicked by a person; the two before include machines.
  'peopleOpened',
  'humanClicked',
  'bounced',
  'unsubscribed',
] as const;

interface CountRow {
  /** Empty for the workflow itself. */
  stepId: string;
  name: string;
  /** In the range. */
  count: number;
  /** Of all days. */
  total: number;
}

const counted = (table: string, subject: string, isInRange: boolean) => `
  select part, counts, ${isInRange} as in_range from ${table} where project_id = $1 and subject = ${subject}`;
const TOTAL = "'workflow/' || $2::uuid";
const DAYS = `${TOTAL} || '/days'`;
const IN_RANGE = 'and period >= $4::timestamptz and period < $5::timestamptz';

// Without a range $4 and $5 are null, and no day is read.
const read = statement<CountRow>(
  'workflow-counts',
  `select split_part(part, '/', 2) as step_id, name, coalesce(sum(value::bigint) filter (where in_range), 0)::float8 as count,
     coalesce(sum(value::bigint) filter (where not in_range), 0)::float8 as total
   from (
     ${counted('counters', TOTAL, false)}
     union all ${counted('counter_deltas', DAYS, false)}
     union all ${counted('counters', DAYS, true)} ${IN_RANGE}
     union all ${counted('counter_deltas', DAYS, true)} ${IN_RANGE}
   ) counted, jsonb_each_text(counts) as number (name, value)
   where $3::text is null or split_part(part, '/', 1) = $3
   group by 1, 2`,
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
  const isRanged = from !== undefined || to !== undefined;
  const firstDay = new Date(Math.floor((from?.getTime() ?? 0) / DAY) * DAY);
  const range = isRanged ? [firstDay, to ?? NEVER] : [null, null];
  const rows = await read(db, [projectId, workflowId, query.version ?? null, ...range]);
  const ofStep = new Map<string, CountRow[]>();
  for (const row of rows) {
    const count = isRanged ? row.count : row.total;
    ofStep.set(row.stepId, [...(ofStep.get(row.stepId) ?? []), { ...row, count }]);
  }
  const own = countsOf(ofStep.get(''));
  const results = Object.fromEntries(executionResults.map((name) => [name, own.inRange(name)]));
  const ended = executionResults.reduce((sum, name) => sum + own.ever(name), 0);
  ofStep.delete('');
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
const NEVER = new Date('9999-01-01T00:00:00Z');

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

/** A CTE that counts the rows of the CTE `moved (version, current_step_id)`, which went to another version. */
export const countMoved = (projectId: string, workflowId: string, version: string): string => `
   counted_moves as (
     insert into counter_deltas (project_id, subject, period, part, counts)
     select ${projectId}, 'workflow/' || ${workflowId}::uuid || '/days', date_trunc('day', now(), 'UTC'), part,
       jsonb_build_object(name, count(*))
     from moved, lateral (values (moved.version, 'moved_out'), (${version}::integer, 'moved_in')) as side (v, name),
       lateral (values (v::text), (v || '/' || current_step_id)) as counted (part)
     where part is not null group by part, name
   )`;
