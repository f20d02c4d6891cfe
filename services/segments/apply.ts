import { type Db, wake } from '../../db/connect.ts';
import { recordingEvents } from '../../db/models/event-writing.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { loadFacts } from '../conditions/facts.ts';
import { decides } from '../conditions/read.ts';
import { staticSegmentsOf } from '../conditions/resolve.ts';
import type { Held, TrackedSegment } from './tracked.ts';

export interface Moved {
  entered: number;
  left: number;
}

/** A contact that must be looked at, and by which of the segments at hand. */
export interface Look {
  contactId: string;
  concerns(segment: TrackedSegment): boolean;
}

interface Move {
  segmentId: string;
  contactId: string;
  enters: boolean;
}

// A row of segment_members comes and goes once, and who made it come or go announces that, in the same statement.
const move = statement<{ entered: number; left: number }>(
  'segments-move',
  `with moves as materialized (
     select * from unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::uuid[])
       as moves (segment_id, contact_id, enters, event_id)
   ),
   entered as (
     insert into segment_members (segment_id, contact_id)
     select segment_id, contact_id from moves where enters
     on conflict do nothing returning segment_id, contact_id
   ),
   gone as (
     delete from segment_members m using moves
     where not moves.enters and m.segment_id = moves.segment_id and m.contact_id = moves.contact_id
     returning m.segment_id, m.contact_id
   ),
   moved as (
     select moves.*, s.project_id, s.slug, s.name from moves
     join (select * from entered union all select * from gone) done using (segment_id, contact_id)
     join segments s on s.id = moves.segment_id
   ),
   announced as (
     ${recordingEvents(
       `select event_id, project_id, contact_id, 'segment.' || slug || case when enters then '.entry' else '.exit' end,
          jsonb_build_object('segmentId', segment_id, 'segmentName', name), null::uuid,
          greatest(cascade_depth(), (select max(n.depth) from contact_changes n
            where n.id = any ($5::bigint[]) and n.contact_id = moved.contact_id))
        from moved order by event_id`,
     )}
   ),
   recounts as (insert into segment_recounts select distinct segment_id from moved),
   settled as (delete from contact_changes where id = any ($5::bigint[]))
   select count(*) filter (where enters)::integer as entered, count(*) filter (where not enters)::integer as left
   from moved`,
);

/**
 * Brings the membership of contacts up to date, and tells of every change once. The contacts must be locked: whatever
 * conditions ask for is written under that lock, so nothing can change between the look and the writing of it.
 * `changes` are the notes that this settles.
 */
export async function settle(
  trx: Db,
  projectId: string,
  looks: Look[],
  held: Held,
  changes: string[] = [],
): Promise<Moved> {
  const moves = looks.length > 0 ? await movesOf(trx, projectId, looks, held) : [];
  if (moves.length === 0 && changes.length === 0) return { entered: 0, left: 0 };
  const [moved] = await move(trx, [
    moves.map(({ segmentId }) => segmentId),
    moves.map(({ contactId }) => contactId),
    moves.map(({ enters }) => enters),
    moves.map(() => newId()),
    changes,
  ]);
  if (moved && moved.entered + moved.left > 0) wake(trx, 'events');
  return moved ?? { entered: 0, left: 0 };
}

async function movesOf(trx: Db, projectId: string, looks: Look[], held: Held): Promise<Move[]> {
  const { segments, uses, referenced, now } = held;
  if (!uses) return [];
  const segmentIds = [...segments.map(({ id }) => id), ...staticSegmentsOf({ segments: referenced })];
  const contactIds = [...new Set(looks.map(({ contactId }) => contactId))];
  const facts = await loadFacts(trx, { projectId, contactIds, uses, segmentIds });
  const moves: Move[] = [];
  for (const { contactId, concerns } of looks) {
    const known = facts.get(contactId);
    if (!known) continue;
    const subject = { ...known, segments: referenced, context: {}, now };
    for (const segment of segments) {
      if (!concerns(segment)) continue;
      const enters = decides(segment.condition, subject);
      if (enters !== known.staticSegments.has(segment.id)) moves.push({ segmentId: segment.id, contactId, enters });
    }
  }
  return moves;
}
