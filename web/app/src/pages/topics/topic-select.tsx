import { Select } from '@mantine/core';
import { useProject } from '../../api/hooks.ts';
import type { Template } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { useTopics } from './queries.ts';

interface TopicSelectProps {
  /** Of the email: topics of one kind go with it. */
  type: Template['type'];
  value: string | null;
  onChange(topicId: string | null): void;
  readOnly?: boolean;
}

/** The topic of an email. Shows nothing in a project without topics of its kind. */
export function TopicSelect({ type, value, onChange, readOnly = false }: TopicSelectProps) {
  const project = useProject();
  const kind = type === 'TRANSACTIONAL' ? 'NOTIFICATION' : 'MARKETING';
  const fitting = (useTopics().data ?? []).filter((topic) => topic.kind === kind);
  const archived = useTopics(true).data?.find(({ id }) => id === value);
  const isRequired = kind === 'MARKETING' && project?.topicRequired === true;
  if (fitting.length === 0 && value === null && !isRequired) return null;
  const known = [...fitting, ...(archived ? [archived] : [])].map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Select
      label={t.topics.topic}
      description={isRequired ? t.topics.topicRequired : t.topics.topicHint}
      data={[{ value: '', label: t.topics.noTopic }, ...known]}
      value={value ?? ''}
      onChange={(id) => onChange(id || null)}
      allowDeselect={false}
      searchable
      disabled={readOnly}
    />
  );
}
