import { type Fragment, sql } from '../fragment.ts';
import { decides, toSql } from '../read.ts';
import type { Question, Subject } from '../types.ts';
import { nothing } from './arguments.ts';
import { type Operators, operator } from './operator.ts';

export type SegmentId = string;

/** Who is being asked about must not be asked about again: cycles are refused on save, and end here if one gets by. */
const without = <Asked extends Question | Subject>(asked: Asked, id: SegmentId): Asked => {
  const segments = new Map(asked.segments);
  segments.delete(id);
  return { ...asked, segments };
};

function isMemberSql(id: SegmentId, question: Question): Fragment {
  const segment = question.segments.get(id);
  if (!segment) return sql`false`;
  if (segment.condition) return toSql(segment.condition, without(question, id));
  return sql`exists (select 1 from segment_members m where m.segment_id = ${id} and m.contact_id = c.id)`;
}

function isMember(id: SegmentId, subject: Subject): boolean {
  const segment = subject.segments.get(id);
  if (!segment) return false;
  if (segment.condition) return decides(segment.condition, without(subject, id));
  return subject.staticSegments.has(id);
}

export const segmentOperators: Operators<SegmentId> = {
  memberOfSegment: operator({
    read: nothing,
    sql: (id, _, question) => isMemberSql(id, question),
    decide: (id, _, subject) => isMember(id, subject),
  }),
  notMemberOfSegment: operator({
    read: nothing,
    // A condition inside may come out as null, which means no; `not` alone would leave it null.
    sql: (id, _, question) => sql`(${isMemberSql(id, question)}) is not true`,
    decide: (id, _, subject) => !isMember(id, subject),
  }),
};
