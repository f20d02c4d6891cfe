import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

// Notes and members are written together, so a count that sees the note sees what it is about.
const recount = statement<{ id: string }>(
  'segments-recount',
  `with due as (delete from segment_recounts returning segment_id)
   update segments set member_count = (select count(*) from segment_members m where m.segment_id = segments.id)
   where id in (select segment_id from due) and (type = 'STATIC' or track_membership)
   returning id`,
);

/** Brings the cached counts of segments with stored members up to date. */
export async function settleRecounts(db: Db): Promise<number> {
  return (await recount(db, [])).length;
}
