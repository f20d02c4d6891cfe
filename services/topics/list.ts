import type { Db } from '../../db/connect.ts';
import { Topic } from '../../db/models/topic.ts';
import { countTopics, type TopicCounts } from './counts.ts';

export interface TopicView {
  topic: Topic;
  counts: TopicCounts;
}

/** Returns the topics by position: those in use, or the archived ones. */
export async function listTopics(db: Db, projectId: string, archived: boolean): Promise<TopicView[]> {
  const topics = await Topic.query(db).where({ projectId, archived }).orderBy('position').orderBy('id');
  const counts = await countTopics(
    db,
    projectId,
    topics.map(({ id }) => id),
  );
  return topics.map((topic) => ({ topic, counts: countsOf(counts, topic) }));
}

export async function viewTopic(db: Db, topic: Topic): Promise<TopicView> {
  return { topic, counts: countsOf(await countTopics(db, topic.projectId, [topic.id]), topic) };
}

const countsOf = (counts: Map<string, TopicCounts>, { id }: Topic): TopicCounts =>
  counts.get(id) ?? { subscribed: 0, unsubscribed: 0, pending: 0, estimated: false };
