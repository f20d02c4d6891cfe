-- Outbound webhooks: endpoints, what they want, the events for them and their deliveries. See
-- docs/decisions/webhooks.md.

create table webhook_endpoints (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  url text not null,
  description text,
  -- Names, prefixes (email.*) or *.
  types text[] not null,
  -- Sealed JSON; the names alone are shown.
  sealed_headers text,
  header_names text[] not null default '{}',
  rate_per_second integer check (rate_per_second > 0),
  -- Sealed. The previous secret signs too until previous_secret_until.
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz,
  enabled boolean not null default true,
  -- Null where a person disabled it.
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  disabled_at timestamptz,
  -- Since the first failure after the last success; whether the members were mailed about it.
  failing_since timestamptz,
  failure_mailed boolean not null default false,
  -- Rounds of calls without a success, which lengthen the pause after each.
  failed_rounds integer not null default 0,
  paused_until timestamptz,
  -- Its Temporal workflow is calling: it finds new deliveries without a signal.
  delivering_until timestamptz not null default '-infinity',
  -- When its Temporal workflow is to be signalled next, and when it was last.
  signal_at timestamptz,
  signalled_at timestamptz not null default '-infinity',
  -- Part of the id of its Temporal workflow: a lost one is started again under the next generation.
  generation integer not null default 1,
  loop_started_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (enabled = (disabled_at is null))
);
create index webhook_endpoints_project on webhook_endpoints (project_id, id);
create index webhook_endpoints_signal on webhook_endpoints (signal_at) where signal_at is not null;
create index webhook_endpoints_disabled on webhook_endpoints (disabled_at) where disabled_at is not null;

-- Streams of GET /webhook-endpoints/listen. One that is no longer seen is removed.
create table webhook_listeners (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  types text[] not null,
  seen_at timestamptz not null default now(),
  created_at timestamptz not null default now()
);
create index webhook_listeners_project on webhook_listeners (project_id);

-- The types that the endpoints and listeners of a project want (renew_wanted_webhook_types). Read for everything that
-- happens: a project without rows costs one index lookup.
create table wanted_webhook_types (
  project_id uuid not null,
  pattern text not null,
  primary key (project_id, pattern)
);

-- What happened, once for all endpoints. By week of UTC; retention drops weeks that are older than 30 days. A replay
-- copies the row, so that it outlives the week of the first delivery.
create table webhook_events (
  -- The webhook-id of every request. Of a recorded event: its id.
  id uuid not null,
  project_id uuid not null,
  type text not null,
  -- Whose address and data it contains.
  contact_id uuid,
  data jsonb not null,
  -- The time in the payload. A replay keeps it.
  happened_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  primary key (id, created_at)
) partition by range (created_at);
create table webhook_events_default partition of webhook_events default;
-- For erasing a contact, and jobs that name its address (which have no contact).
create index webhook_events_contact on webhook_events (project_id, contact_id);

-- Events that are not expanded to deliveries yet.
create table webhook_queue (
  id bigint generated always as identity primary key,
  project_id uuid not null,
  event_id uuid not null,
  -- Names the partition.
  event_created_at timestamptz not null,
  -- The data is still to be completed by the program: it shows a resource that SQL cannot show.
  incomplete boolean not null default false,
  due_at timestamptz not null default now()
);
create index webhook_queue_due on webhook_queue (project_id, due_at) where not incomplete;
create index webhook_queue_incomplete on webhook_queue (id) where incomplete;

-- One event for one endpoint, in the same week as the event. Without a foreign key: the log outlives its endpoint. One
-- that is PENDING for more than 30 days, or whose endpoint is gone, is shown as DISCARDED.
create table webhook_deliveries (
  id uuid not null,
  project_id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  type text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'DELIVERED', 'FAILED')),
  attempts integer not null default 0,
  -- The attempts before the last recovery, from which the schedule of retries starts again.
  attempts_before integer not null default 0,
  -- Null: never on its own, since its endpoint was disabled when it happened.
  next_attempt_at timestamptz,
  last_status_code integer,
  last_error text,
  -- [{ number, startedAt, durationMs, statusCode, error, answer }]
  attempt_log jsonb not null default '[]',
  -- That of the event.
  created_at timestamptz not null,
  delivered_at timestamptz,
  primary key (id, created_at)
) partition by range (created_at);
create table webhook_deliveries_default partition of webhook_deliveries default;
-- Expanded once. Replays have a time of their own.
create unique index webhook_deliveries_event on webhook_deliveries (event_id, endpoint_id, created_at);
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at, id)
  where status = 'PENDING' and next_attempt_at is not null;

-- Events for listeners, removed as they are read. Unlogged: a stream has no retries.
create unlogged table webhook_listener_messages (
  id bigint generated always as identity primary key,
  project_id uuid not null,
  listener_id uuid not null,
  event_id uuid not null,
  type text not null,
  data jsonb not null,
  happened_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index webhook_listener_messages_listener on webhook_listener_messages (listener_id, id);
create index webhook_listener_messages_age on webhook_listener_messages (created_at);
