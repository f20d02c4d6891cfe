import type { Db } from '../../db/connect.ts';
import { type ContactRecord, contactColumns } from '../../db/models/contact.ts';
import { joined, sql } from '../../db/sql.ts';
import { queryRows, statement } from '../../db/statement.ts';
import type { Data } from '../contacts/data.ts';
import { loadEmailCounts, NO_EMAIL_COUNTS } from './email-facts.ts';
import { type Explanation, explain } from './explain.ts';
import { type ResolvedCondition, staticSegmentsOf } from './resolve.ts';
import { loadTopics, NO_TOPICS } from './topics.ts';
import type { Subject, SubjectEvent, Uses } from './types.ts';

/** The stored facts about one contact that conditions evaluate. */
export type Facts = Pick<Subject, 'contact' | 'events' | 'staticSegments' | 'topics' | 'emails'>;

export interface FactsQuery {
  projectId: string;
  contactIds: string[];
  uses: Pick<Uses, 'events' | 'oldEvents' | 'eventCount' | 'testedEvents' | 'topics' | 'emailQuestions'>;
  /** For what the database evaluates: the data of events, and emails. */
  now: Date;
  timeZone: string;
  /** Static segments whose membership is needed. */
  segmentIds: string[];
}

interface Row extends ContactRecord {
  events: [name: string, milliseconds: number][] | null;
  segmentIds: string[];
}

// No filter needs more than $5 of the newest or the oldest events of a name.
const eventsOf = (names: string, order: 'asc' | 'desc'): string => `
  select e.id, e.name, e.created_at from unnest(${names}::text[]) as wanted (name)
  cross join lateral (
    select e.id, e.name, e.created_at from events e
    where e.project_id = $1 and e.name = wanted.name and e.contact_id = c.id
    order by e.created_at ${order} limit $5
  ) e`;

const facts = statement<Row>(
  'condition-facts',
  `select ${contactColumns('c')},
     (
       select json_agg(json_build_array(found.name, floor(extract(epoch from found.created_at) * 1000)))
       from (${eventsOf('$3', 'desc')} union ${eventsOf('$4', 'asc')}) found
     ) as events,
     array(
       select m.segment_id from segment_members m where m.contact_id = c.id and m.segment_id = any ($6::uuid[])
     ) as segment_ids
   from contacts c where c.project_id = $1 and c.id = any ($2::uuid[])`,
);

/** Loads the facts. Contacts that do not exist are left out. */
export async function loadFacts(db: Db, query: FactsQuery): Promise<Map<string, Facts>> {
  const { projectId, contactIds, uses, segmentIds } = query;
  const { events, oldEvents, eventCount } = uses;
  const rows = await facts(db, [projectId, contactIds, [...events], [...oldEvents], eventCount, segmentIds]);
  const tested = await loadTestedEvents(db, query);
  const topics = await loadTopics(db, projectId, contactIds, uses.topics.keys());
  const asked = { projectId, now: query.now, timeZone: query.timeZone, segments: new Map(), context: {} };
  const emails = await loadEmailCounts(db, asked, contactIds, uses.emailQuestions);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        ...factsOf(row, tested.get(row.id) ?? []),
        topics: topics.get(row.id) ?? NO_TOPICS,
        emails: emails.get(row.id) ?? NO_EMAIL_COUNTS,
      },
    ]),
  );
}

/** Loads the events of filters with `where`, each for its filter. The database tests their data. */
async function loadTestedEvents(
  db: Db,
  { projectId, contactIds, uses: { testedEvents }, now, timeZone }: FactsQuery,
): Promise<Map<string, SubjectEvent[]>> {
  const found = new Map<string, SubjectEvent[]>();
  if (testedEvents.length === 0) return found;
  const query = { projectId, now, timeZone, segments: new Map(), context: {} };
  const selects = testedEvents.flatMap(({ name, tests, count, needsOldest }, n) =>
    (needsOldest ? [sql`asc`] : [sql`desc`]).map(
      (order) => sql`(select ${n}::integer as n, e.created_at from events e
        where e.project_id = ${projectId} and e.name = ${name} and e.contact_id = c.id and ${tests.sql(query)}
        order by e.created_at ${order} limit ${count})`,
    ),
  );
  const rows = await queryRows<{ contactId: string; n: number; ms: number }>(
    db,
    sql`select c.id as contact_id, found.n, floor(extract(epoch from found.created_at) * 1000)::float8 as ms
        from contacts c cross join lateral (${joined(selects, ' union all ')}) found
        where c.project_id = ${projectId} and c.id = any (${contactIds}::uuid[])`,
  );
  for (const { contactId, n, ms } of rows) {
    const { name = '', tests } = testedEvents[n] ?? {};
    const events = found.get(contactId) ?? [];
    events.push({ name, createdAt: new Date(ms), tests: tests?.id ?? '' });
    found.set(contactId, events);
  }
  return found;
}

const factsOf = (
  { events, segmentIds, ...contact }: Row,
  tested: SubjectEvent[],
): Omit<Facts, 'topics' | 'emails'> => ({
  contact,
  events: [...(events ?? []).map(([name, milliseconds]) => ({ name, createdAt: new Date(milliseconds) })), ...tested],
  staticSegments: new Set(segmentIds),
});

/** One evaluation: which contact, at what time. */
export interface ContactEvaluation {
  projectId: string;
  contactId: string;
  now: Date;
  /** The context of the execution that evaluates the condition. */
  context?: Data;
}

/** Evaluates a condition for one stored contact. A contact that does not exist does not match. */
export async function explainForContact(
  db: Db,
  resolved: ResolvedCondition,
  evaluation: ContactEvaluation,
): Promise<Explanation> {
  const subject = await subjectOf(db, resolved, evaluation);
  return subject ? explain(resolved.condition, subject) : { holds: false, filters: [] };
}

async function subjectOf(
  db: Db,
  resolved: ResolvedCondition,
  { projectId, contactId, now, context = {} }: ContactEvaluation,
): Promise<Subject | undefined> {
  const { uses, segments, timeZone } = resolved;
  const wanted = { projectId, contactIds: [contactId], uses, now, timeZone, segmentIds: staticSegmentsOf(resolved) };
  const facts = (await loadFacts(db, wanted)).get(contactId);
  return facts && { ...facts, segments, timeZone, context, now };
}
