import type { Db } from '../../db/connect.ts';
import type { Segment } from '../../db/models/segment.ts';
import { type Fragment, run, sql } from '../conditions/fragment.ts';
import { conditionOf } from '../conditions/parse.ts';
import { toSql } from '../conditions/read.ts';
import { resolveCondition } from '../conditions/resolve.ts';

type Asked = Pick<Segment, 'id' | 'projectId' | 'condition'>;

/** True for the contacts under the alias `c` that are in the segment at this moment. */
export async function matchingSql(db: Db, { id, projectId, condition }: Asked, now = new Date()): Promise<Fragment> {
  if (!condition)
    return sql`exists (select 1 from segment_members m where m.segment_id = ${id} and m.contact_id = c.id)`;
  const resolved = await resolveCondition(db, projectId, conditionOf(condition));
  return toSql(resolved.condition, { projectId, now, segments: resolved.segments, context: {} });
}

/** The contacts of a project, as far as they match. */
export const contactsWhere = (projectId: string, matching: Fragment): Fragment =>
  sql`from contacts c where c.project_id = ${projectId} and ${matching}`;

export async function countMatching(db: Db, projectId: string, matching: Fragment): Promise<number> {
  const [row] = await run<{ count: number }>(
    db,
    sql`select count(*)::integer as count ${contactsWhere(projectId, matching)}`,
  );
  return row?.count ?? 0;
}
