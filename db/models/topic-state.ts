import { type Fragment, sql } from '../sql.ts';
import type { TopicDefault, TopicState } from './topic.ts';

interface TopicOf {
  projectId: string;
  /** SQL that does not depend on the contact, so that Postgres evaluates it once. */
  topicId: Fragment;
  /** Columns of the contact; by default those of the alias `c`. */
  contact?: { id: Fragment; createdAt: Fragment };
}

const aliased = { id: sql`c.id`, createdAt: sql`c.created_at` };

/**
 * SQL: whether a contact has this effective state. The rule of the function `topic_state`, for many contacts: the
 * function is called for each, which takes 25 times as long. Looks at the time of creation only where the default of the
 * topic has changed. The test of conditions compares both.
 */
export function hasTopicState(topic: TopicOf, state: TopicState): Fragment {
  const hasChosen = choiceOf(topic, sql`ct.state = ${state}`);
  if (state === 'PENDING') return hasChosen;
  const { projectId, topicId, contact = aliased } = topic;
  const defaults = sql`from topic_defaults d where d.project_id = ${projectId} and d.topic_id = ${topicId}`;
  return sql`(${hasChosen} or (coalesce((select bool_or(d.state = ${state}) ${defaults}), false)
    and not ${choiceOf(topic, sql`true`)}
    and ((select bool_and(d.state = ${state}) ${defaults})
      or (select d.state ${defaults} and d.since <= ${contact.createdAt} order by d.since desc limit 1) = ${state})))`;
}

/**
 * SQL: the same where all defaults of the topic are known. One that never changed leaves one join, which Postgres plans as
 * such; it reads the choices, and of contacts their index only.
 */
export function hasTopicStateAmong(topic: TopicOf, state: TopicDefault, defaults: readonly TopicDefault[]): Fragment {
  if (defaults.every((byDefault) => byDefault !== state)) return choiceOf(topic, sql`ct.state = ${state}`);
  if (defaults.every((byDefault) => byDefault === state)) return sql`not ${choiceOf(topic, sql`ct.state <> ${state}`)}`;
  return hasTopicState(topic, state);
}

/** SQL: whether a contact has a choice (alias `ct`) for which the test holds. */
export const choiceOf = ({ projectId, topicId, contact = aliased }: TopicOf, test: Fragment): Fragment =>
  sql`exists (select 1 from contact_topics ct where ct.project_id = ${projectId} and ct.topic_id = ${topicId}
    and ct.contact_id = ${contact.id} and ${test})`;
