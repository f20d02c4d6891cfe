import { type Db, inTransaction, wake } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { roundRobinCtes } from '../../db/round-robin.ts';
import { arrays, statement } from '../../db/statement.ts';
import type { Data } from '../contacts/data.ts';
import { enter } from './executions/enter.ts';

const BATCH = 500;
/** Workflows that trigger one another for ever are stopped here. */
export const MAX_DEPTH = 25;

// Times as text: a Date has no microseconds.
const take = statement<{ event_id: string; created_at: string }>(
  'event-queue-take',
  `with recursive ${roundRobinCtes({ table: 'event_queue', waiting: 'true', limit: '$1::integer' })}
   delete from event_queue using mine where event_queue.id = mine.id 
   returning event_queue.event_id, event_queue.event_created_at::text as created_at`,
);

interface Candidate {
  project_id: string;
  contact_id: string;
  data: Data;
  position: string;
  depth: number;
  workflow_id: string;
  version: number;
  allow_reentry: boolean;
}

// Each row by its own id (the inner limits see to that). The planner knows nothing of tables that were empty a moment ago,
// keeps its plan, and chose to read all events, and all executions of the workflow, for every batch.
const askedEvents = `unnest(${arrays('uuid', 'timestamptz')}) as asked (id, created_at)
   cross join lateral (select * from events where id = asked.id and created_at = asked.created_at limit 1) e`;

// A workflow that is being disabled or edited is waited for, and looked at again. Who may not enter is told by the unique
// indexes alone.
const wanting = statement<Candidate>(
  'event-queue-triggers',
  `select e.project_id, e.contact_id, e.data, e.position, e.depth, w.id as workflow_id, w.valid_version as version,
     w.allow_reentry
   from ${askedEvents}
   cross join lateral (select 1 from contacts where id = e.contact_id limit 1) c
   join workflows w on w.project_id = e.project_id and w.event_name = e.name
   where e.depth <= $3
   for share of w`,
);

// A signal says no more than "look again": whether the event counts is decided by whoever looks.
const nudge = statement<{ count: number }>(
  'event-queue-waits',
  `with told as (
     insert into outbox (queue, project_id, workflow_id, action, payload)
     select distinct 'events', x.project_id, workflow_id('execution', x.project_id::text, x.id::text, x.generation::text), 'signal',
       '{"signal": "lookAgain"}'::jsonb
     from ${askedEvents}
     join executions x on x.project_id = e.project_id and x.contact_id = e.contact_id and x.awaited_event = e.name
       and x.after_position < e.position
     returning 1
   )
   select count(*)::integer as count from told`,
);

export interface Matched {
  events: number;
  started: number;
  nudged: number;
}

/**
 * Brings a batch of recorded events to those who want them: contacts enter the workflows that an event starts, and
 * executions that wait for it look again. Taken from the queue in the same transaction, so each once.
 */
export async function matchEvents(db: Db, limit = BATCH): Promise<Matched> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const taken = await take(trx, [limit]);
      if (taken.length === 0) return { events: 0, started: 0, nudged: 0 };
      const events = [taken.map(({ event_id }) => event_id), taken.map(({ created_at }) => created_at)];
      const candidates = await wanting(trx, [...events, MAX_DEPTH]);
      const started = await enter(trx, candidates.map(entryOf));
      const [told] = await nudge(trx, events);
      if (told?.count) wake(trx, 'events');
      return { events: taken.length, started: started.length, nudged: told?.count ?? 0 };
    }),
  );
}

const entryOf = ({
  project_id,
  contact_id,
  data,
  position,
  depth,
  workflow_id,
  version,
  allow_reentry,
}: Candidate) => ({
  projectId: project_id,
  workflowId: workflow_id,
  version,
  contactId: contact_id,
  context: data,
  afterPosition: position,
  depth,
  oncePerContact: !allow_reentry,
});
