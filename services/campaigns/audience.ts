import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { Segment } from '../../db/models/segment.ts';
import { ApiError } from '../../platform/errors.ts';
import { sql } from '../conditions/fragment.ts';
import { countMatching, type Matching, matchingContacts } from '../conditions/matching.ts';
import { requireCondition } from '../conditions/parse.ts';
import { resolveCondition } from '../conditions/resolve.ts';
import { projectContacts } from '../conditions/scope.ts';
import { countContacts } from '../contacts/counts.ts';
import { guarded } from '../segments/guard.ts';
import { membersOf } from '../segments/matching.ts';

export type Audience = Pick<Campaign, 'projectId' | 'type' | 'audienceType' | 'segmentId' | 'audienceCondition'>;

/** TRANSACTIONAL mail reaches every contact, other mail subscribed contacts only. */
const needsSubscription = ({ type }: Pick<Audience, 'type'>): boolean => type !== 'TRANSACTIONAL';

/** Selects the contacts that the campaign would reach now. */
export async function audienceOf(db: Db, audience: Audience): Promise<Matching> {
  const { projectId, scope, condition } = await selectedContacts(db, audience);
  return { projectId, scope, condition: needsSubscription(audience) ? sql`c.subscribed and ${condition}` : condition };
}

async function selectedContacts(
  db: Db,
  { projectId, audienceType, segmentId, audienceCondition }: Audience,
): Promise<Matching> {
  const noContacts = { projectId, scope: projectContacts(projectId), condition: sql`false` };
  switch (audienceType) {
    case 'ALL':
      return { ...noContacts, condition: sql`true` };
    case 'SEGMENT': {
      const segment = await Segment.query(db).findOne({ projectId, id: segmentId });
      return segment ? membersOf(db, segment) : noContacts;
    }
    case 'FILTERED':
      return matchingContacts(
        db,
        projectId,
        await resolveCondition(db, projectId, requireCondition(audienceCondition)),
      );
  }
}

/** Returns how many contacts the campaign would reach now; undefined if counting takes too long. */
export async function countAudience(db: Db, audience: Audience): Promise<number | undefined> {
  if (audience.audienceType === 'ALL')
    return countContacts(db, audience.projectId, needsSubscription(audience) ? { subscribed: true } : {});
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
