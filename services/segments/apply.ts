import { type Db, wake } from '../../db/connect.ts';
import { insertEventsSql } from '../../db/models/event-writing.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { decides } from '../conditions/evaluate.ts';
import { loadFacts } from '../conditions/facts.ts';
import { staticSegmentsOf } from '../conditions/resolve.ts';
import type { LockedSegments, TrackedSegment } from './tracked.ts';

export interface ChangeCounts {
  entered: number;
  left: number;
}

/** A contact to evaluate, and for which of the locked segments. */
export interface MembershipEvaluation {
  contactId: string;
  concerns(segment: TrackedSegment): boolean;
}

interface MembershipChange {
  segmentId: string;
  contactId: string;
  enters: boolean;
}

// The statement that inserts or deletes a row of segment_members also records its event, so each change has one event.
const changeMembers = statement<{ entered: number; left: number }>(
  'segments-move',
  `with changes as materialized (
     select * from unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::uuid[])
       as changes (segment_id, contact_id, enters, event_id)
   ),
   entered as (
     insert into segment_members (segment_id, contact_id)
     select segment_id, contact_id from changes where enters
     on conflict do nothing returning segment_id, contact_id
   ),
   departed as (
     delete from segment_members m using changes
     where not changes.enters and m.segment_id = changes.segment_id and m.contact_id = changes.contact_id
     returning m.segment_id, m.contact_id
   ),
   changed as (
     select changes.*, s.project_id, s.slug, s.name from changes
     join (select * from entered union all select * from departed) done using (segment_id, contact_id)
     join segments s on s.id = changes.segment_id
   ),
   recorded as (
     ${insertEventsSql(
       `select event_id, project_id, contact_id, 'segment.' || slug || case when enters then '.entry' else '.exit' end,
          jsonb_build_object('segmentId', segment_id, 'segmentName', name), null::uuid,
          greatest(cascade_depth(), (select max(c.depth) from contact_changes c
            where c.id = any ($5::bigint[]) and c.contact_id = changed.contact_id))
        from changed order by event_id`,
     )}
   ),
   recounts as (insert into segment_recounts select distinct segment_id from changed),
   applied as (delete from contact_changes where id = any ($5::bigint[]))
   select count(*) filter (where enters)::integer as entered, count(*) filter (where not enters)::integer as left
   from changed`,
);

/**
 * Brings the membership of contacts up to date and records an event for every change. The contacts must be locked: all that
 * conditions read is written under that lock, so nothing changes between evaluating and writing. Deletes the rows of
 * contact_changes with the ids in `appliedChanges`.
 */
export async function applyMembership(
  trx: Db,
  projectId: string,
  evaluations: MembershipEvaluation[],
  locked: LockedSegments,
  appliedChanges: string[] = [],
): Promise<ChangeCounts> {
  const changes = evaluations.length > 0 ? await evaluate(trx, projectId, evaluations, locked) : [];
  if (changes.length === 0 && appliedChanges.length === 0) return { entered: 0, left: 0 };
  const [counts] = await changeMembers(trx, [
    changes.map(({ segmentId }) => segmentId),
    changes.map(({ contactId }) => contactId),
    changes.map(({ enters }) => enters),
    changes.map(() => newId()),
    appliedChanges,
  ]);
  if (counts && counts.entered + counts.left > 0) wake(trx, 'events');
  return counts ?? { entered: 0, left: 0 };
}

async function evaluate(
  trx: Db,
  projectId: string,
  evaluations: MembershipEvaluation[],
  { segments, uses, referenced, timeZone, now }: LockedSegments,
): Promise<MembershipChange[]> {
  if (!uses) return [];
  const segmentIds = [...segments.map(({ id }) => id), ...staticSegmentsOf({ segments: referenced })];
  const contactIds = [...new Set(evaluations.map(({ contactId }) => contactId))];
  const facts = await loadFacts(trx, { projectId, contactIds, uses, segmentIds, now, timeZone });
  const changes: MembershipChange[] = [];
  for (const { contactId, concerns } of evaluations) {
    const known = facts.get(contactId);
    if (!known) continue;
    const subject = { ...known, segments: referenced, timeZone, context: {}, now };
    for (const segment of segments) {
      if (!concerns(segment)) continue;
      const enters = decides(segment.condition, subject);
      if (enters !== known.staticSegments.has(segment.id)) changes.push({ segmentId: segment.id, contactId, enters });
    }
  }
  return changes;
}
