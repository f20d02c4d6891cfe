import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

// Notes and members are written together, so a count that sees the note sees what it is about.
const recount = statement<{ id: string }>(
  'segments-recount',
  `with free as materialized (
     select id from segments where id in (select segment_id from segment_recounts)
     order by id for no key update skip locked
   ),
   done as (
     delete from segment_recounts r where segment_id in (select id from free)
       or not exists (select 1 from segments s where s.id = r.segment_id)
   )
   update segments set member_count = (select count(*) from segment_members m where m.segment_id = segments.id)
   where id in (select id from free) and (type = 'STATIC' or track_membership)
   returning id`,
);

/** Brings the cached counts of segments with stored members up to date; of those that are being edited, later. */
export async function applyRecounts(db: Db): Promise<number> {
  return (await recount(db, [])).length;
}
