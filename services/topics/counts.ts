import type { Db } from '../../db/connect.ts';
import { countedWhere } from '../../db/models/counters.ts';
import type { TopicDefault, TopicState } from '../../db/models/topic.ts';
import { sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
import { countContacts } from '../contacts/counts.ts';
import { countList } from '../paging.ts';

/** Effective states over all contacts, whatever their subscription. */
export interface TopicCounts {
  subscribed: number;
  unsubscribed: number;
  pending: number;
  /** More contacts than can be counted were created since a change of the default. */
  estimated: boolean;
}

export const topicSubject = (id: string): string => `topic/${id}`;

interface Count {
  subject: string;
  name: string;
  count: number;
}

const readChoices = statement<Count>(
  'topics-choices',
  `select subject, name, sum(count)::float8 as count from ${countedWhere('project_id = $1 and subject = any ($2::text[])')}
   group by 1, 2`,
);

interface Default {
  topicId: string;
  since: Date | null;
  state: TopicDefault;
}

// The first default of a topic is in force since ever.
const readDefaults = statement<Default>(
  'topics-defaults',
  `select topic_id, case when since > '-infinity' then since end as since, state from topic_defaults
   where project_id = $1 and topic_id = any ($2::uuid[]) order by topic_id, topic_defaults.since`,
);

/** Counts without reading choices: those by state, and for all others the default of the time when they were created. */
export async function countTopics(db: Db, projectId: string, ids: string[]): Promise<Map<string, TopicCounts>> {
  if (ids.length === 0) return new Map();
  // One after the other: a transaction has one connection.
  const contacts = await countContacts(db, projectId);
  const choices = await readChoices(db, [projectId, ids.map(topicSubject)]);
  const defaults = await readDefaults(db, [projectId, ids]);
  const counts = new Map<string, TopicCounts>();
  for (const id of ids) {
    const chosen = new Map(
      choices.filter(({ subject }) => subject === topicSubject(id)).map(({ name, count }) => [name, count]),
    );
    const own = defaults.filter(({ topicId }) => topicId === id);
    const { byDefault, estimated } = await countDefaults(db, projectId, contacts, own);
    const count = (state: TopicState) => chosen.get(state.toLowerCase()) ?? 0;
    const without = (state: TopicDefault) => byDefault[state] - (chosen.get(`over ${state.toLowerCase()}`) ?? 0);
    counts.set(id, {
      subscribed: Math.max(0, count('SUBSCRIBED') + without('SUBSCRIBED')),
      unsubscribed: Math.max(0, count('UNSUBSCRIBED') + without('UNSUBSCRIBED')),
      pending: count('PENDING'),
      estimated,
    });
  }
  return counts;
}

/** Returns how many contacts were created while each state was the default. */
async function countDefaults(db: Db, projectId: string, contacts: number, defaults: Default[]) {
  const byDefault: Record<TopicDefault, number> = { SUBSCRIBED: 0, UNSUBSCRIBED: 0 };
  let estimated = false;
  let later = 0;
  for (const { since, state } of defaults.toReversed()) {
    const count = since === null ? { total: contacts } : await countCreatedSince(db, projectId, since);
    if (count.totalEstimated) estimated = true;
    byDefault[state] += count.total - later;
    later = count.total;
  }
  return { byDefault, estimated };
}

const countCreatedSince = (db: Db, projectId: string, since: Date) =>
  countList(
    db,
    sql`select 1 from contacts where project_id = ${projectId}::uuid and subscribed in (true, false)
      and created_at >= ${since}`,
  );
