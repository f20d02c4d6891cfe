import type { Db } from '../../db/connect.ts';
import { insertEventsSql } from '../../db/models/event-writing.ts';
import { Segment } from '../../db/models/segment.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';

// For one contact, which is locked. Unlike requests that name many, it adds to the count instead of counting members.
const change = (move: string, sign: '+' | '-'): string => `
  with moved as (${move}),
  recorded as (
    ${insertEventsSql(
      `select $4::uuid, s.project_id, moved.contact_id, $5::text,
         jsonb_build_object('segmentId', s.id, 'segmentName', s.name), null::uuid, cascade_depth()
       from moved cross join segments s where s.project_id = $1 and s.id = $2 and s.track_membership`,
    )}
  ),
  changes as (
    insert into contact_changes (project_id, contact_id, dependencies)
    select $1::uuid, contact_id, array['segment.' || $2::text] from moved
    where exists (select 1 from segment_dependencies where project_id = $1 and dependency = 'segment.' || $2::text)
  ),
  counted as (
    update segments set member_count = member_count ${sign} 1
    where project_id = $1 and id = $2 and exists (select 1 from moved)
  )
  select contact_id from moved`;

const add = statement<{ contactId: string }>(
  'segment-add-member',
  change(
    `insert into segment_members (segment_id, contact_id) values ($2::uuid, $3::uuid)
     on conflict do nothing returning contact_id`,
    '+',
  ),
);
const remove = statement<{ contactId: string }>(
  'segment-remove-member',
  change('delete from segment_members where segment_id = $2 and contact_id = $3 returning contact_id', '-'),
);

export interface MemberChange {
  projectId: string;
  segmentId: string;
  contactId: string;
  member: boolean;
}

/** Adds a locked contact to a static segment, or removes it. Returns whether that changed anything, or the refusal. */
export async function changeMember(
  trx: Db,
  { projectId, segmentId, contactId, member }: MemberChange,
): Promise<{ changed?: boolean; refused?: string }> {
  const segment = await Segment.query(trx).findOne({ projectId, id: segmentId }).select('type', 'slug');
  const refused = refusalOfMembers(segment);
  if (!segment || refused) return { refused: refused ?? '' };
  const event = `segment.${segment.slug}.${member ? 'entry' : 'exit'}`;
  const rows = await (member ? add : remove)(trx, [projectId, segmentId, contactId, newId(), event]);
  return { changed: rows.length > 0 };
}

export function refusalOfMembers(segment: Pick<Segment, 'type'> | undefined): string | undefined {
  if (!segment) return 'the segment of the step no longer exists';
  return segment.type === 'STATIC' ? undefined : 'the segment of the step is not static';
}
