import type { Db } from '../../db/connect.ts';
import type { Segment } from '../../db/models/segment.ts';
import { sql } from '../conditions/fragment.ts';
import { type Matching, matchingOf } from '../conditions/matching.ts';
import { conditionOf } from '../conditions/parse.ts';
import { resolveCondition } from '../conditions/resolve.ts';
import { ownContacts } from '../conditions/scope.ts';

/** Returns a query for the current members of a segment. */
export async function membersOf(
  db: Db,
  { id, projectId, condition }: Pick<Segment, 'id' | 'projectId' | 'condition'>,
): Promise<Matching> {
  if (condition) return matchingOf(db, projectId, await resolveCondition(db, projectId, conditionOf(condition)));
  return {
    projectId,
    scope: ownContacts(projectId),
    condition: sql`exists (select 1 from segment_members m where m.segment_id = ${id} and m.contact_id = c.id)`,
  };
}
