import type { Db } from '../../db/connect.ts';
import { type ContactRow, contactRecord } from '../../db/models/contact.ts';
import { statement } from '../../db/statement.ts';
import type { Data } from '../contacts/data.ts';
import { type Explanation, explain } from './explain.ts';
import { type ResolvedCondition, staticSegmentsOf } from './resolve.ts';
import type { Subject, Uses } from './types.ts';

/** The stored facts about one contact that conditions evaluate. */
export type Facts = Pick<Subject, 'contact' | 'events' | 'staticSegments'>;

export interface FactsQuery {
  projectId: string;
  contactIds: string[];
  uses: Pick<Uses, 'events' | 'oldEvents' | 'eventCount'>;
  /** Static segments whose membership is needed. */
  segmentIds: string[];
}

interface Row extends ContactRow {
  events: [name: string, milliseconds: number][] | null;
  segment_ids: string[];
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
  `select c.id, c.email, c.subscribed, c.data, c.created_at, c.updated_at,
     (
       select json_agg(json_build_array(found.name, floor(extract(epoch from found.created_at) * 1000)))
       from (${eventsOf('$3', 'desc')} union ${eventsOf('$4', 'asc')}) found
     ) as events,
     array(
       select m.segment_id from segment_members m where m.contact_id = c.id and m.segment_id = any ($6::uuid[])
     ) as segment_ids
   from contacts c where c.project_id = $1 and c.id = any ($2::uuid[])`,
);

/** Loads the facts in one statement. Contacts that do not exist are left out. */
export async function loadFacts(db: Db, query: FactsQuery): Promise<Map<string, Facts>> {
  const { projectId, contactIds, uses, segmentIds } = query;
  const { events, oldEvents, eventCount } = uses;
  const rows = await facts(db, [projectId, contactIds, [...events], [...oldEvents], eventCount, segmentIds]);
  return new Map(rows.map((row) => [row.id, factsOf(row)]));
}

const factsOf = ({ events, segment_ids, ...contact }: Row): Facts => ({
  contact: contactRecord(contact),
  events: (events ?? []).map(([name, milliseconds]) => ({ name, createdAt: new Date(milliseconds) })),
  staticSegments: new Set(segment_ids),
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
  const { uses, segments } = resolved;
  const wanted = { projectId, contactIds: [contactId], uses, segmentIds: staticSegmentsOf(resolved) };
  const facts = (await loadFacts(db, wanted)).get(contactId);
  return facts && { ...facts, segments, context, now };
}
