import type { Db } from '../connect.ts';
import { statement } from '../statement.ts';

// Counts without reading what is counted. A change appends a delta to `counter_deltas` in the same
// transaction: the numbers by name of a subject in a period. `aggregateCounters` adds the deltas to `counters`, and readers
// add those that are left, in one snapshot: counts are exact, and writers never wait for one another. What is counted by the
// hour, as `<subject>/hours`, is summed up as `<subject>/days` as well, and what is counted by the day, as `<subject>/days`, in
// total as `<subject>`. See docs/decisions/counts.md.

/** SQL: the numbers of counters and deltas that match, as rows `(subject, period, part, name, count)`. */
export const countedWhere = (condition: string): string => `(
  select subject, period, part, name, value::bigint as count from (
    select subject, period, part, counts from counters where ${condition}
    union all
    select subject, period, part, counts from counter_deltas where ${condition}
  ) counted, jsonb_each_text(counts) as number (name, value)
) numbers`;

/**
 * SQL: the numbers of a subject that is counted by the hour, in a range: `(period, part, counts)`, by the day where days are
 * whole. $1 is the project, $2 to $5 are the values of `hourRange`.
 */
export const countedHours = (subject: string): string => {
  const counted = (table: string, unit: 'hours' | 'days', from: string, to: string) => `
    select period, part, counts from ${table} where project_id = $1 and subject = '${subject}/${unit}'
      and period >= ${from} and period < ${to}`;
  const [from, to, firstDay, lastDay] = ['$2::timestamptz', '$3::timestamptz', '$4::timestamptz', '$5::timestamptz'];
  return `(${[
    counted('counters', 'days', firstDay, lastDay),
    counted('counters', 'hours', from, firstDay),
    counted('counters', 'hours', lastDay, to),
    counted('counter_deltas', 'hours', from, to),
  ].join(' union all ')}) counted`;
};

export interface HourRange {
  from?: Date | undefined;
  to?: Date | undefined;
}

const DAY_MS = 86_400_000;
const NEVER = new Date('9999-01-01T00:00:00Z');

/**
 * Returns a range of whole hours, and the whole days in it; today is one when the range reaches up to now. Without days in
 * it, the days begin and end where it ends.
 */
export function hourRange({ from = new Date(0), to = NEVER }: HourRange): [Date, Date, Date, Date] {
  const end = to > new Date() ? new Date(Math.ceil(to.getTime() / DAY_MS) * DAY_MS) : to;
  const firstDay = Math.ceil(from.getTime() / DAY_MS) * DAY_MS;
  const lastDay = Math.max(firstDay, Math.floor(end.getTime() / DAY_MS) * DAY_MS);
  return firstDay < lastDay ? [from, end, new Date(firstDay), new Date(lastDay)] : [from, end, end, end];
}

const AGGREGATION_LOCK = 0x636e7472; // "cntr"
const BATCH_SIZE = 20_000;

// One process at a time. A counter may be removed meanwhile, so the sum is made by the update.
const aggregate = statement<{ aggregated: number }>(
  'counters-aggregate',
  `with aggregation_lock as materialized (select pg_try_advisory_xact_lock(${AGGREGATION_LOCK}) as locked),
   deltas as (
     delete from counter_deltas where ctid = any (array(
       select d.ctid from counter_deltas d where (select locked from aggregation_lock) limit $1 for update))
     returning *
   ),
   changes as (
     select project_id, subject, period, part, counts from deltas
     union all
     select project_id, replace(subject, '/hours', '/days'), date_trunc('day', period, 'UTC'), part, counts from deltas
     where subject like '%/hours'
     union all
     select project_id, replace(subject, '/days', ''), '-infinity', part, counts from deltas where subject like '%/days'
   ),
   added as (
     insert into counters as c (project_id, subject, period, part, counts)
     select project_id, subject, period, part, jsonb_object_agg(name, count) from (
       select project_id, subject, period, part, name, sum(value::bigint) as count
       from changes, jsonb_each_text(counts) as number (name, value) group by 1, 2, 3, 4, 5
     ) sums group by 1, 2, 3, 4 order by 1, 2, 3, 4
     on conflict (project_id, subject, period, part) do update set counts = add_counts(c.counts, excluded.counts)
   )
   select count(*)::integer as aggregated from deltas`,
);

/** Housekeeping: aggregates at most `limit` deltas, or all of them. Safe to run in several processes at once. */
export async function aggregateCounters(db: Db, limit = Number.POSITIVE_INFINITY): Promise<number> {
  let total = 0;
  for (;;) {
    const size = Math.min(BATCH_SIZE, limit - total);
    const aggregated = (await aggregate(db, [size]))[0]?.aggregated ?? 0;
    total += aggregated;
    if (aggregated < size || total >= limit) return total;
  }
}

const lockAggregation = statement('counters-lock', `select pg_advisory_xact_lock(${AGGREGATION_LOCK})`);
const remove = statement(
  'counters-remove',
  `with removed as (select unnest(array[$2, $2 || '/hours', $2 || '/days']) as subject),
   deltas as (delete from counter_deltas d using removed r where d.project_id = $1 and d.subject = r.subject)
   delete from counters c using removed r where c.project_id = $1 and c.subject = r.subject`,
);

/** Removes all numbers of a subject, by the hour, by the day and in total. No process aggregates until the transaction ends. */
export async function removeCounters(trx: Db, projectId: string, subject: string): Promise<void> {
  await lockAggregation(trx);
  await remove(trx, [projectId, subject]);
}
