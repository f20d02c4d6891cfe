import type { Db } from '../../db/connect.ts';
import type { Segment } from '../../db/models/segment.ts';
import { sql } from '../conditions/fragment.ts';
import { type Matching, matchingContacts } from '../conditions/matching.ts';
import { requireCondition } from '../conditions/parse.ts';
import { resolveCondition } from '../conditions/resolve.ts';
import { projectContacts } from '../conditions/scope.ts';

/** Returns a query for the current members of a segment. */
export async function membersOf(
  db: Db,
  { id, projectId, condition }: Pick<Segment, 'id' | 'projectId' | 'condition'>,
): Promise<Matching> {
  if (condition)
    return matchingContacts(db, projectId, await resolveCondition(db, projectId, requireCondition(condition)));
  return {
    projectId,
    scope: projectContacts(projectId),
    condition: sql`exists (select 1 from segment_members m where m.segment_id = ${id} and m.contact_id = c.id)`,
  };
}
