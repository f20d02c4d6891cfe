import { type Fragment, sql } from '../../../db/sql.ts';
import { decides, toSql } from '../evaluate.ts';
import type { ConditionQuery, Subject } from '../types.ts';
import { readNothing } from './arguments.ts';
import { type Operators, operator } from './operator.ts';

export type SegmentId = string;

/** Removes the segment that is being evaluated, so that a cycle ends here. Cycles are already refused on save. */
const without = <Context extends ConditionQuery | Subject>(context: Context, id: SegmentId): Context => {
  const segments = new Map(context.segments);
  segments.delete(id);
  return { ...context, segments };
};

function isMemberSql(id: SegmentId, query: ConditionQuery): Fragment {
  const segment = query.segments.get(id);
  if (!segment) return sql`false`;
  if (segment.condition) return toSql(segment.condition, without(query, id));
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
    read: readNothing,
    sql: (id, _, query) => isMemberSql(id, query),
    evaluate: (id, _, subject) => isMember(id, subject),
  }),
  notMemberOfSegment: operator({
    read: readNothing,
    // IS NOT TRUE, because the nested condition may be null, and NOT NULL is null.
    sql: (id, _, query) => sql`(${isMemberSql(id, query)}) is not true`,
    evaluate: (id, _, subject) => !isMember(id, subject),
  }),
};
