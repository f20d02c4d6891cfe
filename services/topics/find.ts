import type { Db } from '../../db/connect.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { Topic, type TopicDefault, type TopicKind } from '../../db/models/topic.ts';
import { notFound, validationError } from '../../platform/errors.ts';
import { isUuid } from '../../platform/ids.ts';

export const topicNotFound = () => notFound('topic');

/** The fields by which conditions name a topic. */
export const conditionNamesOf = ({ id, key }: Pick<Topic, 'id' | 'key'>): string[] => [`topic.${id}`, `topic.${key}`];

export async function findTopic(db: Db, projectId: string, id: string): Promise<Topic> {
  return found(await Topic.query(db).findOne({ projectId, id }));
}

/** Keeps the topic from being deleted until the transaction ends; undefined for one that does not exist. */
export async function findTopicForUse(trx: Db, projectId: string, id: string): Promise<Topic | undefined> {
  return Topic.query(trx).findOne({ projectId, id }).forShare();
}

/** Returns the ids of the topics that can no longer be joined. */
export async function archivedTopics(db: Db, projectId: string): Promise<ReadonlySet<string>> {
  const topics = await Topic.query(db).where({ projectId, archived: true }).select('id');
  return new Set(topics.map(({ id }) => id));
}

/** Locks the row for a change, so that no transaction can begin to use the topic. */
export async function lockTopic(trx: Db, projectId: string, id: string): Promise<Topic> {
  return found(await Topic.query(trx).findOne({ projectId, id }).forUpdate());
}

/** Returns the topics with these keys or ids, by both. */
async function topicsByName(db: Db, projectId: string, names: string[]): Promise<Map<string, Topic>> {
  const ids = names.filter(isUuid).map((id) => id.toLowerCase());
  const topics = await Topic.query(db)
    .where({ projectId })
    .where((query) => query.whereIn('id', ids).orWhereIn('key', names));
  return new Map(topics.flatMap((topic) => [[topic.id, topic] as const, [topic.key, topic] as const]));
}

/** Returns the topics with these keys or ids, by the name given; 404 for one that the project does not have. */
export async function findTopicsNamed(db: Db, projectId: string, names: string[]): Promise<Map<string, Topic>> {
  if (names.length === 0) return new Map();
  const byName = await topicsByName(db, projectId, names);
  return new Map(names.map((name) => [name, found(byName.get(name) ?? byName.get(name.toLowerCase()))]));
}

/** Returns the topic with this key or id. */
export async function findTopicNamed(db: Db, projectId: string, name: string): Promise<Topic> {
  return found((await findTopicsNamed(db, projectId, [name])).get(name));
}

/** Returns the states by topic id, and what is wrong about the topics that cannot be changed so. */
export async function findChosenTopics(
  db: Db,
  projectId: string,
  choices: Record<string, TopicDefault>,
): Promise<{ states: Record<string, TopicDefault>; faults: string[] }> {
  const names = Object.keys(choices);
  const known = names.length === 0 ? new Map<string, Topic>() : await topicsByName(db, projectId, names);
  const states: Record<string, TopicDefault> = {};
  const faults: string[] = [];
  for (const [name, state] of Object.entries(choices)) {
    const topic = known.get(name) ?? known.get(name.toLowerCase());
    if (!topic) faults.push(`the topic "${name}", which does not exist`);
    else if (topic.archived && state === 'SUBSCRIBED') faults.push(`the topic "${name}", which is archived`);
    else states[topic.id] = state;
  }
  return { states, faults };
}

/** TRANSACTIONAL email goes with topics for notifications, all other email with topics for marketing. */
export const kindOf = (type: TemplateType): TopicKind => (type === 'TRANSACTIONAL' ? 'NOTIFICATION' : 'MARKETING');

/**
 * Rejects a topic that email of this type must not get: 404 for an unknown one, 422 for one of the other kind, and for one
 * that is archived unless the email has it already. Keeps it from being deleted until the transaction ends.
 */
export async function requireTopicFor(
  trx: Db,
  projectId: string,
  { id, type, before }: { id: string; type: TemplateType; before?: string | null | undefined },
): Promise<Topic> {
  const topic = found(await findTopicForUse(trx, projectId, id));
  requireKind(topic, type, 'topicId');
  if (topic.archived && topic.id !== before) throw archivedTopic(topic, 'topicId');
  return topic;
}

export function requireKind({ key, kind }: Pick<Topic, 'key' | 'kind'>, type: TemplateType, field: string): void {
  if (kind === kindOf(type)) return;
  const message = `"${field}" names the topic "${key}" of kind ${kind}, which does not go with ${type} email`;
  throw validationError([{ field, message, code: 'custom' }]);
}

export const archivedTopic = ({ key }: Pick<Topic, 'key'>, field: string) =>
  validationError([{ field, message: `"${field}" names the topic "${key}", which is archived`, code: 'custom' }]);

function found(topic: Topic | undefined): Topic {
  if (!topic) throw topicNotFound();
  return topic;
}
