import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { Segment } from '../../db/models/segment.ts';
import { hasTopicState } from '../../db/models/topic-state.ts';
import { type Fragment, sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import { countMatching, type Matching, matchingContacts } from '../conditions/matching.ts';
import { requireCondition } from '../conditions/parse.ts';
import { resolveCondition } from '../conditions/resolve.ts';
import { projectContacts } from '../conditions/scope.ts';
import { countContacts } from '../contacts/counts.ts';
import { guarded } from '../segments/guard.ts';
import { membersOf } from '../segments/matching.ts';

export type Audience = Pick<
  Campaign,
  'projectId' | 'type' | 'audienceType' | 'segmentId' | 'audienceCondition' | 'topicId'
> &
  Partial<Pick<Campaign, 'followUpOf'>>;

/** TRANSACTIONAL mail reaches every contact, other mail subscribed contacts only. */
const needsSubscription = ({ type }: Pick<Audience, 'type'>): boolean => type !== 'TRANSACTIONAL';

/** Selects the contacts that the campaign would reach now. */
export async function audienceOf(db: Db, audience: Audience): Promise<Matching> {
  const { projectId, scope, condition: selected } = await selectedContacts(db, audience);
  const condition = audience.followUpOf ? sql`${selected} and ${isFollowed(audience)}` : selected;
  if (!needsSubscription(audience)) {
    const allowed = audience.topicId ? sql`${condition} and ${mayGet(audience)}` : condition;
    return { projectId, scope, condition: allowed };
  }
  // The subscription is part of the rule too; alone an index serves it.
  return { projectId, scope, condition: sql`c.subscribed and ${condition} and ${mayGet(audience)}` };
}

/**
 * SQL: the rule for the contact `c`. Suppressed addresses are asked when their email begins. As a truth value, because
 * Postgres would expect one row in 200 of `is null`.
 */
function mayGet({ projectId, topicId, ...audience }: Audience): Fragment {
  const topic = topicId
    ? sql`${topicId}::uuid, (select t.archived from topics t where t.id = ${topicId}::uuid and t.project_id = ${projectId}::uuid),
        case when ${hasTopicState({ projectId, topicId: sql`${topicId}::uuid` }, 'SUBSCRIBED')} then 'SUBSCRIBED' else 'UNSUBSCRIBED' end`
    : sql`null, null, null`;
  const facts = sql`${needsSubscription(audience)}::boolean, false, c.subscribed, c.snoozed_until, ${topic}`;
  return sql`not coalesce(email_refusal(${facts}) <> '', false)`;
}

/** A follow-up of a cancelled campaign reaches no contact. */
const isFollowed = ({ projectId, followUpOf }: Audience): Fragment =>
  sql`not exists (select from campaigns o where o.project_id = ${projectId} and o.id = ${followUpOf} and o.status = 'CANCELLED')`;

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
  if (audience.audienceType === 'ALL' && !audience.topicId && !audience.followUpOf) return countAll(db, audience);
  const count = async (trx: Db) => countMatching(trx, await audienceOf(trx, audience));
  return unlessTooSlow(() => guarded(db, audience.projectId, count));
}

const countSnoozed = statement<{ count: number }>(
  'audience-snoozed',
  `select count(*)::integer as count from contacts
   where project_id = $1 and snoozed_until > now() and snoozed_until is not null and subscribed`,
);

/** Reads the counts of the project instead of its contacts. */
async function countAll(db: Db, audience: Audience): Promise<number> {
  if (!needsSubscription(audience)) return countContacts(db, audience.projectId);
  const [subscribed, [snoozed]] = await Promise.all([
    countContacts(db, audience.projectId, { subscribed: true }),
    countSnoozed(db, [audience.projectId]),
  ]);
  return Math.max(0, subscribed - (snoozed?.count ?? 0));
}

async function unlessTooSlow<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
