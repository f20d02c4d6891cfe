import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { countMatching } from '../conditions/matching.ts';
import { findSegment } from './find.ts';
import { guarded } from './guard.ts';
import { membersOf } from './matching.ts';

/** Recounts and stores the result. Records no events and writes no membership. */
export async function refreshSegment(db: Db, project: ProjectAccess, id: string): Promise<{ memberCount: number }> {
  const segment = await findSegment(db, project.projectId, id);
  const memberCount = await countMembers(db, segment);
  await writing(db, project, async (trx) => {
    await Segment.query(trx).findById(id).patch({ memberCount });
  });
  return { memberCount };
}

export async function countMembers(db: Db, segment: Segment, timeoutMs?: number): Promise<number> {
  const count = async (trx: Db) => countMatching(trx, await membersOf(trx, segment));
  return guarded(db, segment.projectId, count, timeoutMs);
}

/** Counts again and stores the result. Keeps the old count when counting takes too long. */
export async function recount(db: Db, segment: Segment, timeoutMs?: number): Promise<Segment> {
  try {
    const memberCount = await countMembers(db, segment, timeoutMs);
    const { id, projectId } = segment;
    const [counted] = await Segment.query(db).where({ id, projectId }).patch({ memberCount }).returning('countedAt');
    segment.memberCount = memberCount;
    segment.countedAt = counted?.countedAt ?? null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  return segment;
}

// A row of segment_recounts is written together with the members, so a count that sees the row sees the members.
const recountMembers = statement<{ id: string }>(
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
  return (await recountMembers(db, [])).length;
}
