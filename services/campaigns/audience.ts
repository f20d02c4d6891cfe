import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { Segment } from '../../db/models/segment.ts';
import type { TopicDefault } from '../../db/models/topic.ts';
import { hasTopicStateAmong } from '../../db/models/topic-state.ts';
import { type Fragment, joined, sql } from '../../db/sql.ts';
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
  const { projectId, scope, condition } = await selectedContacts(db, audience);
  const followed = audience.followUpOf ? [isFollowed(audience)] : [];
  return { projectId, scope, condition: joined([...(await mayGet(db, audience)), condition, ...followed], ' and ') };
}

const readDefaults = statement<{ state: TopicDefault }>(
  'audience-topic-defaults',
  'select state from topic_defaults where project_id = $1 and topic_id = $2',
);

/**
 * SQL: the rule for the contact `c`. Facts that indexes answer are asked as joins, and the rule is asked with them, so that
 * no row of a contact is read. Suppressed addresses are asked when their email begins.
 */
async function mayGet(db: Db, { projectId, topicId, ...audience }: Audience): Promise<Fragment[]> {
  const parts: Fragment[] = [];
  if (needsSubscription(audience))
    parts.push(
      sql`c.subscribed`,
      sql`not exists (select from contacts s where s.project_id = ${projectId} and s.id = c.id
      and s.snoozed_until > now() and s.snoozed_until is not null)`,
    );
  if (!topicId) return parts;
  const topic = { projectId, topicId: sql`${topicId}::uuid` };
  const defaults = await readDefaults(db, [projectId, topicId]);
  parts.push(
    hasTopicStateAmong(
      topic,
      'SUBSCRIBED',
      defaults.map(({ state }) => state),
    ),
  );
  const archived = sql`(select t.archived from topics t where t.id = ${topicId}::uuid and t.project_id = ${projectId}::uuid)`;
  const facts = sql`${needsSubscription(audience)}::boolean, false, true, null, ${topicId}::uuid, ${archived}, 'SUBSCRIBED'`;
  parts.push(sql`not coalesce(email_refusal(${facts}) <> '', false)`);
  return parts;
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

/** Returns undefined where the limit of a guarded statement ends the work. */
export async function unlessTooSlow<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
