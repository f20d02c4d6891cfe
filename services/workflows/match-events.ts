import { type Db, inTransaction, wake } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { roundRobinCtes } from '../../db/round-robin.ts';
import { arrays, statement } from '../../db/statement.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import { inSpan, linkToRow } from '../../platform/tracing.ts';
import type { Data } from '../contacts/data.ts';
import { signalNames } from '../outbox/signals.ts';
import { enter } from './executions/enter.ts';

const BATCH = 500;
/** Stops workflows that trigger one another without end. */
export const MAX_TRIGGER_DEPTH = 25;

// Times are text because a Date has no microseconds.
const take = statement<{ eventId: string; createdAt: string }>(
  'event-queue-take',
  `with recursive ${roundRobinCtes({ table: 'event_queue', waiting: 'true', limit: '$1::integer' })}
   delete from event_queue using mine where event_queue.id = mine.id
   returning event_queue.event_id, event_queue.event_created_at::text as created_at`,
);

interface Candidate {
  projectId: string;
  contactId: string;
  data: Data;
  position: string;
  depth: number;
  workflowId: string;
  version: number;
  allowReentry: boolean;
}

// The inner limits make the planner look up each row by its id. Without statistics of tables that were empty a moment ago
// it chose, and cached, a plan that read all events and all executions of the workflow for every batch.
const batchEvents = `unnest(${arrays('uuid', 'timestamptz')}) as queued (id, created_at)
   cross join lateral (select * from events where id = queued.id and created_at = queued.created_at limit 1) e`;

// `for share` waits for a workflow that is being disabled or edited, and evaluates it again. The unique indexes of
// `executions` decide who may not enter.
const findTriggered = statement<Candidate>(
  'event-queue-triggers',
  `select e.project_id, e.contact_id, e.data, e.position, e.depth, w.id as workflow_id, w.valid_version as version,
     w.allow_reentry
   from ${batchEvents}
   cross join lateral (select 1 from contacts where id = e.contact_id limit 1) c
   join workflows w on w.project_id = e.project_id and w.event_name = e.name
   where e.depth <= $3
   for share of w`,
);

// A signal carries no state: the execution decides under its locks whether the event ends its wait.
const signalWaiting = statement<{ count: number }>(
  'event-queue-waits',
  `with message as (
     insert into outbox (queue, project_id, workflow_id, action, payload)
     select distinct 'events', x.project_id, workflow_id('execution', x.project_id::text, x.id::text, x.generation::text), 'signal',
       '${JSON.stringify({ signal: signalNames.refresh })}'::jsonb
     from ${batchEvents}
     join executions x on x.project_id = e.project_id and x.contact_id = e.contact_id and x.awaited_event = e.name
       and x.after_position < e.position
     returning 1
   )
   select count(*)::integer as count from message`,
);

export interface Matched {
  events: number;
  started: number;
  signalled: number;
}

/**
 * Matches a batch of recorded events: contacts enter the workflows that an event triggers, and executions that wait for it
 * get a signal. Deletes the events from the queue in the same transaction, so each is matched once.
 */
export async function matchEvents(db: Db, limit = BATCH): Promise<Matched> {
  const matched = await retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const taken = await take(trx, [limit]);
      if (taken.length === 0) return { events: 0, started: 0, signalled: 0 };
      return inSpan('match events', { kind: 'consumer', attributes: { 'everpost.events': taken.length } }, async () => {
        const events = [taken.map(({ eventId }) => eventId), taken.map(({ createdAt }) => createdAt)];
        const candidates = await findTriggered(trx, [...events, MAX_TRIGGER_DEPTH]);
        const started = await enter(trx, candidates.map(entryOf));
        const [sent] = await signalWaiting(trx, events);
        if (sent?.count) wake(trx, 'events');
        for (const id of [...(events[0] ?? []), ...started]) linkToRow(id);
        faultPoint('match-before-commit');
        return { events: taken.length, started: started.length, signalled: sent?.count ?? 0 };
      });
    }),
  );
  if (matched.events > 0) faultPoint('match-after-commit');
  return matched;
}

const entryOf = ({ projectId, contactId, data, position, depth, workflowId, version, allowReentry }: Candidate) => ({
  projectId,
  workflowId,
  version,
  contactId,
  context: data,
  afterPosition: position,
  depth,
  oncePerContact: !allowReentry,
});
