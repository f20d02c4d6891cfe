import { type Db, wake } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { roundRobinCtes } from '../../db/round-robin.ts';
import { statement } from '../../db/statement.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import { signalNames } from '../outbox/signals.ts';

const BATCH = 500;

// One statement, so each event is expanded once. An event is for the endpoints that existed when it happened. A disabled
// endpoint keeps its deliveries without a time. Endpoints are updated last and in the order of their ids: under their
// locks it is decided whether a signal is needed, so that none is lost to a workflow that is about to rest. The inner
// limits make the planner look up each row by its id.
const expand = statement<{ events: number }>(
  'webhooks-expand',
  `with recursive ${roundRobinCtes({ table: 'webhook_queue', waiting: 'not q.incomplete', limit: '$1::integer' })},
   taken as (
     delete from webhook_queue using mine where webhook_queue.id = mine.id
     returning webhook_queue.id as number, webhook_queue.event_id, webhook_queue.event_created_at
   ),
   event as materialized (
     select taken.number, e.id, e.project_id, e.type, e.data, e.happened_at, e.created_at
     from taken cross join lateral (
       select * from webhook_events where id = taken.event_id and created_at = taken.event_created_at limit 1) e
   ),
   -- Once per type, because many events are alike.
   happened as materialized (select project_id, type from event group by project_id, type),
   type as materialized (select project_id, type, webhook_patterns(type) as patterns from happened),
   wanted as materialized (
     select event.number, event.id as event_id, event.project_id, event.type, event.created_at, p.id as endpoint_id, p.enabled
     from event join type using (project_id, type)
     join webhook_endpoints p on p.project_id = event.project_id and p.types && type.patterns
     where p.created_at <= event.created_at
       and (p.enabled or p.disabled_at > now() - interval '30 days')
   ),
   delivery as (
     insert into webhook_deliveries (id, project_id, endpoint_id, event_id, type, next_attempt_at, created_at)
     select uuidv7(), project_id, endpoint_id, event_id, type, case when enabled then created_at end, created_at
     from wanted order by number
     on conflict do nothing
   ),
   heard as (
     insert into webhook_listener_messages (project_id, listener_id, event_id, type, data, happened_at)
     select event.project_id, l.id, event.id, event.type, event.data, event.happened_at
     from event join type using (project_id, type)
     join webhook_listeners l on l.project_id = event.project_id and l.types && type.patterns
     order by event.number
   ),
   unwanted as (
     delete from webhook_events e using event
     where e.id = event.id and e.created_at = event.created_at
       and not exists (select 1 from wanted where wanted.event_id = event.id)
   ),
   -- As they are under their locks, not as the statement's snapshot has them: a delivery may just have ended.
   endpoint as materialized (
     select id, delivering_until, signal_at, signalled_at from webhook_endpoints
     where id in (select endpoint_id from wanted where enabled) order by id for no key update
   ),
   woken as (
     update webhook_endpoints p
     set signal_at = coalesce(endpoint.signal_at, greatest(now(), endpoint.signalled_at + interval '1 second'))
     from endpoint where p.id = endpoint.id and endpoint.delivering_until < now()
   )
   select count(*)::integer as events from taken`,
);

/** Makes deliveries of queued events, one for each endpoint that wants them. Returns how many events it took. */
export async function expandWebhookEvents(db: Db, limit = BATCH): Promise<number> {
  const [taken] = await retryDeadlocks(db, () => expand(db, [limit]));
  if (taken?.events) faultPoint('delivery-expanded');
  return taken?.events ?? 0;
}

const endpointWorkflowId = (endpoint: string) =>
  `workflow_id('webhookEndpoint', ${endpoint}.project_id::text, ${endpoint}.id::text, ${endpoint}.generation::text)`;

// A signal carries no state, so one is enough for any number of deliveries. An endpoint keeps its `signal_at` while its last
// signal waits in the outbox: signals do not pile up while Temporal is slow, and one that was delivered before the newest
// deliveries is followed by another.
const signal = statement<{ count: number }>(
  'webhooks-signal',
  `with due as (
     update webhook_endpoints set signal_at = null, signalled_at = now()
     where id in (
       select p.id from webhook_endpoints p
       where p.signal_at <= now()
         and (select true from outbox o
           where o.workflow_id = ${endpointWorkflowId('p')} and o.action = 'signal' and o.parked_at is null limit 1) is null
       order by p.id limit 500 for update skip locked)
     returning id, project_id, generation
   ),
   message as (
     insert into outbox (queue, project_id, workflow_id, action, payload)
     select 'control', project_id, ${endpointWorkflowId('due')}, 'signal',
       '${JSON.stringify({ signal: signalNames.refresh })}'::jsonb
     from due returning 1
   )
   select count(*)::integer as count from message`,
);

/** Signals the Temporal workflows of endpoints with new deliveries, each at most once a second and one at a time. */
export async function signalWebhookEndpoints(db: Db): Promise<number> {
  const [sent] = await signal(db, []);
  if (sent?.count) wake(db, 'control');
  return sent?.count ?? 0;
}
