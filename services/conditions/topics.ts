import type { Db } from '../../db/connect.ts';
import type { TopicState } from '../../db/models/topic.ts';
import { statement } from '../../db/statement.ts';
import type { Violation } from '../../platform/errors.ts';
import type { SubjectTopic, SubjectTopics, Uses } from './types.ts';

export const NO_TOPICS: SubjectTopics = new Map();

const findUnknown = statement<{ name: string }>(
  'condition-unknown-topics',
  `select wanted.name from unnest($2::text[]) as wanted (name)
   where not exists (
     select from topics t where t.project_id = $1 and (t.key = wanted.name or t.id::text = wanted.name))`,
);

/** Returns a violation for each filter on a topic that the project does not have. */
export async function topicViolations(
  db: Db,
  projectId: string,
  { topics }: Pick<Uses, 'topics'>,
): Promise<Violation[]> {
  if (topics.size === 0) return [];
  const unknown = await findUnknown(db, [projectId, [...topics.keys()]]);
  return unknown.flatMap(({ name }) =>
    (topics.get(name) ?? []).map((field) => ({
      field,
      message: `"${field}" names a topic that does not exist`,
      code: 'custom' as const,
    })),
  );
}

const readStates = statement<{ contactId: string; name: string; state: TopicState; changedMs: number | null }>(
  'condition-topics',
  `select c.id as contact_id, wanted.name, topic_state($1, t.id, c.id, c.created_at) as state,
     (select floor(extract(epoch from ct.since) * 1000)::float8 from contact_topics ct
      where ct.project_id = $1 and ct.topic_id = t.id and ct.contact_id = c.id) as changed_ms
   from unnest($3::text[]) as wanted (name)
   join topics t on t.project_id = $1 and (t.key = wanted.name or t.id::text = wanted.name)
   cross join contacts c where c.project_id = $1 and c.id = any ($2::uuid[])`,
);

/** Returns the states of the topics that a condition uses, by contact. */
export async function loadTopics(
  db: Db,
  projectId: string,
  contactIds: string[],
  names: Iterable<string>,
): Promise<Map<string, Map<string, SubjectTopic>>> {
  const found = new Map<string, Map<string, SubjectTopic>>();
  const wanted = [...names];
  if (wanted.length === 0) return found;
  for (const { contactId, name, state, changedMs } of await readStates(db, [projectId, contactIds, wanted])) {
    const topics = found.get(contactId) ?? new Map<string, SubjectTopic>();
    topics.set(name, { state, changedAt: changedMs === null ? null : new Date(changedMs) });
    found.set(contactId, topics);
  }
  return found;
}
