import type { Db } from '../../../db/connect.ts';
import type { ContactRecord } from '../../../db/models/contact.ts';
import type { TopicState } from '../../../db/models/topic.ts';
import { statement } from '../../../db/statement.ts';
import { topicNotFound } from '../../topics/find.ts';

/** A topic, and what the simulated contact has chosen. */
export interface SimulatedTopic {
  id: string;
  key: string;
  doubleOptIn: boolean;
  state: TopicState;
  /** Null without a choice. */
  changedAt: Date | null;
}

/** By key and by id. */
export type SimulatedTopics = ReadonlyMap<string, SimulatedTopic>;

// Without a contact, the default of those that are created now.
const readTopics = statement<SimulatedTopic>(
  'simulation-topics',
  `select t.id, t.key, t.double_opt_in, topic_state($1, t.id, $2::uuid, c.created_at) as state, ct.since as changed_at
   from topics t
   left join contacts c on c.project_id = $1 and c.id = $2::uuid
   left join contact_topics ct on ct.project_id = $1 and ct.topic_id = t.id and ct.contact_id = c.id
   where t.project_id = $1`,
);

/** Returns the states of a stored contact or of a new one, with those given in their place; 404 for an unknown topic. */
export async function simulatedTopics(
  db: Db,
  projectId: string,
  { contact, isReal, given = {}, now }: SimulatedTopicsOf,
): Promise<SimulatedTopics> {
  const rows = await readTopics(db, [projectId, isReal ? contact.id : null]);
  const topics = new Map(rows.flatMap((topic) => [[topic.id, topic] as const, [topic.key, topic] as const]));
  for (const [name, state] of Object.entries(given)) {
    const topic = topics.get(name.toLowerCase());
    if (!topic) throw topicNotFound();
    topic.state = state;
    topic.changedAt = now;
  }
  return topics;
}

interface SimulatedTopicsOf {
  contact: ContactRecord;
  isReal: boolean;
  given?: Record<string, TopicState> | undefined;
  now: Date;
}

/** The counterpart of `choose_topics`. Returns whether the choice is a new one. */
export function chooseTopic(topic: SimulatedTopic, wanted: TopicState, at: Date): boolean {
  const chosen = topic.changedAt ? topic.state : null;
  const needsConfirmation = wanted === 'SUBSCRIBED' && topic.doubleOptIn && topic.state !== 'SUBSCRIBED';
  const state = needsConfirmation ? 'PENDING' : wanted;
  if (state === chosen) return false;
  topic.state = state;
  topic.changedAt = at;
  return true;
}
