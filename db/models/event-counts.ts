import { type Db, inTransaction } from '../connect.ts';
import { statement } from '../statement.ts';
import { type HourRange, hourRange } from './counters.ts';
import { countMails } from './mail-counts.ts';

// Counts events by name, hour and day. Readers add the deltas that are not aggregated yet, in one snapshot, so counts are
// always exact. See docs/decisions/counts.md.

const AGGREGATION_LOCK = 0x65766e74; // "evnt"

// Statements of their own, so that the aggregating one takes its snapshot after the one before has committed.
const tryLock = statement<{ locked: boolean }>(
  'event-counts-try-lock',
  'select pg_try_advisory_xact_lock($1) as locked',
);
const waitForLock = statement('event-counts-lock', 'select pg_advisory_xact_lock($1)');

const addToTable = (unit: 'hour' | 'day'): string => `
  ${unit}s as (
    insert into event_${unit}s as known (project_id, ${unit}, name, count, in_feed, last_contacts, last_at)
    select project_id, date_trunc('${unit}', hour, 'UTC'), name, sum(count), sum(in_feed), sum(last_contacts), max(last_at)
    from by_hour group by 1, 2, 3 order by 1, 2, 3
    on conflict (project_id, ${unit}, name) do update set count = known.count + excluded.count,
      in_feed = known.in_feed + excluded.in_feed, last_contacts = known.last_contacts + excluded.last_contacts,
      last_at = greatest(known.last_at, excluded.last_at)
  )`;

// `moved` has the contacts whose last event of a name is in a later hour than before: `last_contacts` counts a contact in
// its last hour only.
const aggregateText = (condition: string): string => `
  with deltas as (
    delete from event_deltas where ctid = any (array(select ctid from event_deltas where ${condition} limit $1))
    returning project_id, name, contact_id, at, in_feed, event_id
  ),
  seen as (
    select project_id, name, contact_id, date_trunc('hour', max(at), 'UTC') as hour from deltas group by 1, 2, 3
  ),
  moved as materialized (
    select seen.*, c.last_hour from seen left join event_contacts c using (project_id, name, contact_id)
    where c.last_hour is null or c.last_hour < seen.hour
  ),
  contact_hours as (
    insert into event_contacts as c (project_id, name, contact_id, last_hour)
    select project_id, name, contact_id, hour from moved order by 1, 2, 3
    on conflict (project_id, name, contact_id) do update set last_hour = excluded.last_hour
  ),
  by_hour as materialized (
    select project_id, hour, name, sum(count) as count, sum(in_feed) as in_feed, sum(last_contacts) as last_contacts,
      max(last_at) as last_at
    from (
      select project_id, date_trunc('hour', at, 'UTC') as hour, name, 1 as count, in_feed::integer as in_feed,
        0 as last_contacts, at as last_at
      from deltas
      union all
      select project_id, hour, name, 0, 0, 1, '-infinity' from moved
      union all
      select project_id, last_hour, name, 0, 0, -1, '-infinity' from moved where last_hour is not null
    ) parts group by 1, 2, 3
  ),
  ${(['hour', 'day'] as const).map(addToTable).join(', ')},
  names as (
    insert into event_names as n (project_id, name, count, retained, in_feed, contacts, last_at)
    select project_id, name, sum(count), sum(count), sum(in_feed), sum(contacts), max(last_at)
    from (
      select project_id, name, 1 as count, in_feed::integer as in_feed, 0 as contacts, at as last_at from deltas
      union all
      select project_id, name, 0, 0, 1, '-infinity' from moved where last_hour is null
    ) parts group by 1, 2 order by 1, 2
    on conflict (project_id, name) do update set count = n.count + excluded.count, retained = n.retained + excluded.retained,
      in_feed = n.in_feed + excluded.in_feed, contacts = n.contacts + excluded.contacts,
      last_at = greatest(n.last_at, excluded.last_at)
  ),
  ${countMails}
  select count(*)::integer as aggregated from deltas`;

const aggregateAny = statement<{ aggregated: number }>('event-counts-aggregate', aggregateText('true'));
const aggregateProject = statement<{ aggregated: number }>(
  'event-counts-aggregate-project',
  aggregateText('project_id = $2'),
);

/** Aggregates at most `limit` deltas and returns how many. 0: there are none, or another process aggregates. */
export async function aggregateEventDeltas(db: Db, limit: number, projectId?: string): Promise<number> {
  return inTransaction(db, async (trx) => {
    const [lock] = await tryLock(trx, [AGGREGATION_LOCK]);
    if (!lock?.locked) return 0;
    const [row] = await (projectId ? aggregateProject(trx, [limit, projectId]) : aggregateAny(trx, [limit]));
    return row?.aggregated ?? 0;
  });
}

/** Keeps other processes from aggregating until the transaction ends. */
export async function lockEventAggregation(trx: Db): Promise<void> {
  await waitForLock(trx, [AGGREGATION_LOCK]);
}

export interface NameCount {
  name: string;
  /** Of all time. */
  count: number;
  /** Not removed by retention, and how many of these the activity feed shows. */
  retained: number;
  inFeed: number;
}

const names = statement<{ name: string; count: string; retained: string; inFeed: string; pending: string }>(
  'event-names',
  `with recent as (
     select name, count(*) as count, count(*) filter (where in_feed) as in_feed from event_deltas
     where project_id = $1 and ($2::text is null or name = $2) group by name
   ),
   known as (select * from event_names where project_id = $1 and ($2::text is null or name = $2))
   select name, coalesce(known.count, 0) + coalesce(recent.count, 0) as count,
     coalesce(known.retained, 0) + coalesce(recent.count, 0) as retained,
     coalesce(known.in_feed, 0) + coalesce(recent.in_feed, 0) as in_feed,
     (select coalesce(sum(count), 0) from recent) as pending
   from known full join recent using (name)
   order by 2 desc, name limit $3`,
);

/** Returns the most frequent first. `pending` is the number of deltas that had to be added. */
export async function readEventNames(
  db: Db,
  projectId: string,
  { name, limit }: { name?: string | undefined; limit: number },
): Promise<{ names: NameCount[]; pending: number }> {
  const rows = await names(db, [projectId, name ?? null, limit]);
  return {
    names: rows.map(({ name, count, retained, inFeed }) => ({
      name,
      count: Number(count),
      retained: Number(retained),
      inFeed: Number(inFeed),
    })),
    pending: Number(rows[0]?.pending ?? 0),
  };
}

const contactsOfName = statement<{ contacts: string }>(
  'event-name-contacts',
  `select coalesce((select contacts from event_names where project_id = $1 and name = $2), 0) + (
     select count(distinct d.contact_id) from event_deltas d
     where d.project_id = $1 and d.name = $2 and not exists (
       select 1 from event_contacts c where c.project_id = $1 and c.name = $2 and c.contact_id = d.contact_id)
   ) as contacts`,
);

/** Counts the contacts that have ever had an event of that name. */
export async function countContactsOfEvent(db: Db, projectId: string, name: string): Promise<number> {
  const [row] = await contactsOfName(db, [projectId, name]);
  return Number(row?.contacts ?? 0);
}

/** The aggregated counts of a range: the whole days in it, and the hours left at its ends. $2 to $5: `hourRange`. */
const AGGREGATED = `
  select name, count, in_feed, last_contacts, last_at from event_days
  where project_id = $1 and day >= $4::timestamptz and day < $5::timestamptz
  union all
  select name, count, in_feed, last_contacts, last_at from event_hours
  where project_id = $1 and (hour >= $2::timestamptz and hour < least($3::timestamptz, $4::timestamptz)
    or hour >= greatest($2::timestamptz, $5::timestamptz) and hour < $3::timestamptz)`;

const hours = statement<{ name: string; count: string; inFeed: string }>(
  'event-hours',
  `select name, sum(count) as count, sum(in_feed) as in_feed from (
     select name, count, in_feed from (${AGGREGATED}) aggregated
     union all
     select name, 1, in_feed::integer from event_deltas
     where project_id = $1 and at >= $2::timestamptz and at < $3::timestamptz
   ) parts group by name`,
);

/** Counts by name within whole hours. `inFeed` counts those that the activity feed shows. */
export async function readEventHours(
  db: Db,
  projectId: string,
  range: HourRange,
): Promise<{ name: string; count: number; inFeed: number }[]> {
  const rows = await hours(db, [projectId, ...hourRange(range)]);
  return rows.map(({ name, count, inFeed }) => ({ name, count: Number(count), inFeed: Number(inFeed) }));
}

export interface NameStats {
  name: string;
  count: number;
  contacts: number;
  lastAt: Date;
}

// $6: the range reaches up to now. Then the contacts in it are those last seen since its start. For a range in the past the
// events are counted; where retention has removed them, the contacts last seen in the range are a lower bound.
const stats = statement<{ name: string; count: string; contacts: string; lastAt: Date; pending: string }>(
  'event-stats',
  `with deltas as materialized (
     select name, contact_id, at from event_deltas
     where project_id = $1 and at >= $2::timestamptz and at < $3::timestamptz
   ),
   summed as (
     select name, sum(count) as count, sum(last_contacts) as contacts, max(last_at) as last_at from (
       select name, count, last_contacts, last_at from (${AGGREGATED}) aggregated
       union all
       select name, 1, 0, at from deltas
       union all
       select distinct on (name, contact_id) name, 0, 1, '-infinity'::timestamptz from deltas d where not exists (
         select 1 from event_contacts c
         where c.project_id = $1 and c.name = d.name and c.contact_id = d.contact_id and c.last_hour >= $2::timestamptz)
     ) parts group by name
   )
   select name, count, last_at, (select count(*) from deltas) as pending,
     case when $6::boolean then contacts else greatest(contacts, (
       select count(distinct e.contact_id) from events e
       where e.project_id = $1 and e.name = summed.name and e.created_at >= $2::timestamptz
         and e.created_at < $3::timestamptz))
     end as contacts
   from summed where count > 0 order by count desc, name limit $7`,
);

/** Returns the statistics of whole hours, the most frequent first. */
export async function readEventStats(
  db: Db,
  projectId: string,
  range: Required<HourRange>,
  limit: number,
): Promise<{ stats: NameStats[]; pending: number }> {
  const values = hourRange(range);
  const rows = await stats(db, [projectId, ...values, values[1] > new Date(), limit]);
  return {
    stats: rows.map(({ name, count, contacts, lastAt }) => ({
      name,
      count: Number(count),
      contacts: Number(contacts),
      lastAt,
    })),
    pending: Number(rows[0]?.pending ?? 0),
  };
}
