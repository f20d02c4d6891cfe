import type { TopicState } from '../../../db/models/topic.ts';
import { choiceOf, hasTopicState } from '../../../db/models/topic-state.ts';
import { type Fragment, sql } from '../../../db/sql.ts';
import { before, type TimeSpan, timestamp } from '../instants.ts';
import type { ConditionQuery, Subject } from '../types.ts';
import { readNothing, readSpan } from './arguments.ts';
import { type BindableOperator, type Operators, operator } from './operator.ts';

/** The key or the id of a topic. */
export type TopicName = string;

/** The id is null where the topic does not exist, so that nothing matches. */
const topicNamed = (name: TopicName, { projectId }: ConditionQuery) => ({
  projectId,
  topicId: sql`(select t.id from topics t where t.project_id = ${projectId} and (t.key = ${name} or t.id::text = ${name}))`,
});

/** The effective state: the choice, else the default in force when the contact was created. */
const isIn = (state: TopicState): BindableOperator<TopicName> =>
  operator({
    read: readNothing,
    sql: (name, _, query) => hasTopicState(topicNamed(name, query), state),
    evaluate: (name, _, subject) => topicOf(name, subject)?.state === state,
  });

const topicOf = (name: TopicName, { topics }: Subject) => topics.get(name);

/** Of the choice. A contact without one has changed nothing. */
const changed = (
  test: (limit: number) => Fragment,
  compare: (changedAt: number, limit: number) => boolean,
): BindableOperator<TopicName> =>
  operator<TopicName, TimeSpan>({
    read: readSpan,
    sql: (name, span, query) => choiceOf(topicNamed(name, query), test(before(query.now, span))),
    evaluate: (name, span, subject) => {
      const changedAt = topicOf(name, subject)?.changedAt;
      return changedAt ? compare(changedAt.getTime(), before(subject.now, span)) : false;
    },
    drift: (name, span, { from, to }, query) =>
      sql`select ct.contact_id from contact_topics ct where ct.project_id = ${query.projectId}
        and ct.topic_id = ${topicNamed(name, query).topicId}
        and ct.since >= ${timestamp(before(from, span))} and ct.since < ${timestamp(before(to, span))}`,
  });

export const topicOperators: Operators<TopicName> = {
  subscribed: isIn('SUBSCRIBED'),
  unsubscribed: isIn('UNSUBSCRIBED'),
  pending: isIn('PENDING'),
  // Has no upper bound, because the database's clock may be ahead of ours.
  changedWithin: changed(
    (limit) => sql`ct.since >= ${timestamp(limit)}`,
    (changedAt, limit) => changedAt >= limit,
  ),
  changedOlderThan: changed(
    (limit) => sql`ct.since < ${timestamp(limit)}`,
    (changedAt, limit) => changedAt < limit,
  ),
};
