import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { type Range, type RangeQuery, readWholeHours } from '../range.ts';
import { lightenEventCounts } from './counts.ts';

export interface EventStats {
  name: string;
  count: number;
  uniqueContacts: number;
  lastSeenAt: Date;
}

interface Row {
  name: string;
  count: string;
  contacts: string;
  last_at: Date;
  pending: string;
}

// $4: the range reaches up to now. Then whoever was last seen since its beginning was seen in it. One that has ended is
// asked of the events themselves; where retention has removed those, whoever was last seen in it is known all the same.
const stats = statement<Row>(
  'event-stats',
  `with notes as materialized (
     select name, contact_id, at from event_notes where project_id = $1 and at >= $2 and at < $3
   ),
   counted as (
     select name, sum(count) as count, sum(last_contacts) as contacts, max(last_at) as last_at from (
       select name, count, last_contacts, last_at from event_hours where project_id = $1 and hour >= $2 and hour < $3
       union all
       select name, 1, 0, at from notes
       union all
       select distinct on (name, contact_id) name, 0, 1, '-infinity'::timestamptz from notes n where not exists (
         select 1 from event_contacts c
         where c.project_id = $1 and c.name = n.name and c.contact_id = n.contact_id and c.last_hour >= $2)
     ) parts group by name
   )
   select name, count, last_at, (select count(*) from notes) as pending,
     case when $4::boolean then contacts else greatest(contacts, (
       select count(distinct e.contact_id) from events e
       where e.project_id = $1 and e.name = counted.name and e.created_at >= $2 and e.created_at < $3))
     end as contacts
   from counted where count > 0 order by count desc, name limit $5`,
);

const MAX_NAMES = 1_000;

/** How often each event was recorded, the most frequent first; for whole hours. */
export async function eventStats(db: Db, projectId: string, query: RangeQuery): Promise<EventStats[]> {
  return statsWithin(db, projectId, readWholeHours(query));
}

export async function statsWithin(db: Db, projectId: string, { from, to }: Range): Promise<EventStats[]> {
  const rows = await stats(db, [projectId, from, to, to > new Date(), MAX_NAMES]);
  await lightenEventCounts(db, projectId, Number(rows[0]?.pending ?? 0));
  return rows.map(({ name, count, contacts, last_at }) => ({
    name,
    count: Number(count),
    uniqueContacts: Number(contacts),
    lastSeenAt: last_at,
  }));
}
