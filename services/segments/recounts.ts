import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

// A row of segment_recounts is written together with the members, so a count that sees the row sees the members.
const recount = statement<{ id: string }>(
  'segments-recount',
  `with unlocked as materialized (
     select id from segments where id in (select segment_id from segment_recounts)
     order by id for no key update skip locked
   ),
   done as (
     delete from segment_recounts r where segment_id in (select id from unlocked)
       or not exists (select 1 from segments s where s.id = r.segment_id)
   )
   update segments set member_count = (select count(*) from segment_members m where m.segment_id = segments.id)
   where id in (select id from unlocked) and (type = 'STATIC' or track_membership)
   returning id`,
);

/** Updates the cached counts of segments with stored members. Leaves those that are being edited for the next run. */
export async function applyRecounts(db: Db): Promise<number> {
  return (await recount(db, [])).length;
}
