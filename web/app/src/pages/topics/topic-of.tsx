import { useApi } from '../../api/hooks.ts';
import type { ActivityItem } from '../../api/types.ts';
import { TextLink } from '../../ui/links.tsx';
import { useTopics } from './queries.ts';

/** The topic that a contact joined or left; nothing for other activity. */
export function TopicOf({ item: { type, metadata } }: { item: Pick<ActivityItem, 'type' | 'metadata'> }) {
  const { topicId, key } = metadata;
  if (!type.startsWith('topic.') || typeof topicId !== 'string') return null;
  return <TopicLink id={topicId} name={typeof key === 'string' ? key : topicId} />;
}

/** `name` stands for a topic that is deleted, or not loaded yet. */
function TopicLink({ id, name }: { id: string; name: string }) {
  const { projectId } = useApi();
  const topics = [...(useTopics().data ?? []), ...(useTopics(true).data ?? [])];
  const topic = topics.find((known) => known.id === id);
  if (!topic) return name;
  return (
    <TextLink to="/p/$projectId/topics/$id" params={{ projectId, id }} size="sm" className="breakable">
      {topic.name}
    </TextLink>
  );
}
