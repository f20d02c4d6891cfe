import type { Db } from '../../db/connect.ts';
import type { Segment } from '../../db/models/segment.ts';
import { sql } from '../../db/sql.ts';
import { type Matching, matchingContacts } from '../conditions/matching.ts';
import { invalidCondition, requireCondition } from '../conditions/parse.ts';
import { resolveCondition } from '../conditions/resolve.ts';
import { projectContacts } from '../conditions/scope.ts';
import type { ParsedCondition } from '../conditions/types.ts';
import { referenceViolations } from './graph.ts';

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

/**
 * Returns a query for the contacts that match a condition of a request, which is at `at` there. Throws a 400 if it names
 * a segment that the project does not have: every contact is "not a member" of it. Checks after loading the segments,
 * so that one that is deleted before they are loaded is a 400 too.
 */
export async function contactsMatching(
  db: Db,
  projectId: string,
  parsed: ParsedCondition,
  at: string,
): Promise<Matching> {
  const resolved = await resolveCondition(db, projectId, parsed);
  const violations = await referenceViolations(db, projectId, parsed, at);
  if (violations.length > 0) throw invalidCondition(violations);
  return matchingContacts(db, projectId, resolved);
}
