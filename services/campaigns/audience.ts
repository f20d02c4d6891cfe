import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { Segment } from '../../db/models/segment.ts';
import { ApiError } from '../../platform/errors.ts';
import { sql } from '../conditions/fragment.ts';
import { countMatching, type Matching, matchingOf } from '../conditions/matching.ts';
import { conditionOf } from '../conditions/parse.ts';
import { resolveCondition } from '../conditions/resolve.ts';
import { ownContacts } from '../conditions/scope.ts';
import { countContacts } from '../contacts/counts.ts';
import { guarded } from '../segments/guard.ts';
import { membersOf } from '../segments/matching.ts';

export type Audience = Pick<Campaign, 'projectId' | 'type' | 'audienceType' | 'segmentId' | 'audienceCondition'>;

/** TRANSACTIONAL mail reaches everybody, other mail those who want it. */
const wantsSubscription = ({ type }: Pick<Audience, 'type'>): boolean => type !== 'TRANSACTIONAL';

/** Who a campaign would go to at this moment. */
export async function audienceOf(db: Db, audience: Audience): Promise<Matching> {
  const { projectId, scope, condition } = await chosenBy(db, audience);
  return { projectId, scope, condition: wantsSubscription(audience) ? sql`c.subscribed and ${condition}` : condition };
}

async function chosenBy(
  db: Db,
  { projectId, audienceType, segmentId, audienceCondition }: Audience,
): Promise<Matching> {
  const nobody = { projectId, scope: ownContacts(projectId), condition: sql`false` };
  switch (audienceType) {
    case 'ALL':
      return { ...nobody, condition: sql`true` };
    case 'SEGMENT': {
      const segment = await Segment.query(db).findOne({ projectId, id: segmentId });
      return segment ? membersOf(db, segment) : nobody;
    }
    case 'FILTERED':
      return matchingOf(db, projectId, await resolveCondition(db, projectId, conditionOf(audienceCondition)));
  }
}

/** How many those are. Undefined: it takes too long to tell. */
export async function countAudience(db: Db, audience: Audience): Promise<number | undefined> {
  if (audience.audienceType === 'ALL')
    return countContacts(db, audience.projectId, wantsSubscription(audience) ? { subscribed: true } : {});
  const count = async (trx: Db) => countMatching(trx, await audienceOf(trx, audience));
  return unlessTooSlow(() => guarded(db, audience.projectId, count));
}

async function unlessTooSlow<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
