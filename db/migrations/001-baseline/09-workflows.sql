-- Workflows, their versions and executions. See executions.md, workflow-entry.md,
-- workflow-versions.md and workflow-steps.md in docs/decisions.

create table workflows (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  description text,
  trigger_type text not null default 'EVENT' check (trigger_type in ('EVENT', 'MANUAL', 'SCHEDULE')),
  trigger_config jsonb not null default '{}',
  enabled boolean not null default false,
  allow_reentry boolean not null default false,
  -- The newest version of the graph, and the newest one that executions may start on. An enabled workflow has one.
  version integer not null default 1,
  valid_version integer,
  -- The event that starts it now.
  event_name text generated always as
    (case when enabled and trigger_type = 'EVENT' then trigger_config ->> 'eventName' end) stored,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (not enabled or valid_version is not null)
);
create index workflows_project on workflows (project_id, created_at, id);
-- Read for every recorded event.
create index workflows_event on workflows (project_id, event_name) where event_name is not null;

-- A version of the graph, never changed again; executions share it.
create table workflow_versions (
  workflow_id uuid not null references workflows on delete cascade,
  version integer not null,
  -- { steps: [..], transitions: [..] }
  graph jsonb not null,
  -- Templates that its steps send, so that a template in use is found.
  template_ids uuid[] not null default '{}',
  created_at timestamptz not null default now(),
  primary key (workflow_id, version)
);
create index workflow_versions_templates on workflow_versions using gin (template_ids);
-- For sealing webhook headers anew: the rows that may have some.
create index workflow_versions_webhooks on workflow_versions (workflow_id, version)
  where graph @> '{"steps": [{"type": "WEBHOOK"}]}';

-- The graph as it is edited. Step types are checked by the program (services/workflows/steps).
create table workflow_steps (
  id uuid primary key,
  project_id uuid not null,
  workflow_id uuid not null references workflows on delete cascade,
  type text not null,
  name text not null,
  position jsonb not null default '{"x": 0, "y": 0}',
  config jsonb not null default '{}',
  template_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index workflow_steps_workflow on workflow_steps (workflow_id, id);
create index workflow_steps_template on workflow_steps (template_id) where template_id is not null;
-- For sealing webhook headers anew: the rows that may have some.
create index workflow_steps_webhooks on workflow_steps (id) where type = 'WEBHOOK';

create table workflow_transitions (
  id uuid primary key,
  project_id uuid not null,
  workflow_id uuid not null references workflows on delete cascade,
  from_step_id uuid not null references workflow_steps on delete cascade,
  to_step_id uuid not null references workflow_steps on delete cascade,
  -- An exit of the step's type.
  branch text,
  created_at timestamptz not null default now()
);
create unique index workflow_transitions_exit on workflow_transitions (from_step_id, coalesce(branch, ''));
create index workflow_transitions_to on workflow_transitions (to_step_id);
create index workflow_transitions_workflow on workflow_transitions (workflow_id, id);

-- No foreign keys: a thousand starts at once would all lock the workflow's row. Rows of a deleted workflow are removed
-- in the background.
create table executions (
  id uuid primary key,
  project_id uuid not null,
  workflow_id uuid not null,
  version integer not null,
  contact_id uuid not null,
  status text not null default 'RUNNING' check (status in ('RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED',
    'CANCELLED')),
  -- The current step, and the number of the visit (1 is the first step taken). A FAILED one keeps both for a retry.
  current_step_id uuid,
  visit integer not null default 1,
  context jsonb not null default '{}',
  -- Only events after this position count for a wait.
  after_position bigint not null,
  -- While WAITING: until when, and for which event.
  wake_at timestamptz,
  awaited_event text,
  -- How many workflows deep it was caused; its own events are one deeper.
  depth smallint not null default 0,
  -- Raised whenever it is brought back: each generation is a Temporal workflow of its own.
  generation integer not null default 1,
  -- Its contact may never enter the workflow again.
  once_per_contact boolean not null,
  exit_reason text,
  error text,
  started_at timestamptz not null default now(),
  completed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
-- The rule of re-entry, exact under concurrency.
create unique index executions_once on executions (workflow_id, contact_id) where once_per_contact;
create unique index executions_active on executions (workflow_id, contact_id) where status in ('RUNNING', 'WAITING');
create index executions_workflow on executions (workflow_id, id);
create index executions_contact on executions (project_id, contact_id, id);
-- For lists of a project; one without a status merges the states.
create index executions_project on executions (project_id, status, id);
-- For lists of those that are at a step, or have failed there.
create index executions_step on executions (current_step_id, id) where current_step_id is not null;
-- Versions in use: by active executions, and by those that may be retried.
create index executions_version on executions (workflow_id, version) where status in ('RUNNING', 'WAITING', 'FAILED');
-- Read for every recorded event.
create index executions_awaiting on executions (project_id, contact_id, awaited_event) where awaited_event is not null;
-- For the reconciler.
create index executions_unfinished on executions (id) where status in ('RUNNING', 'WAITING');
-- For the activity feed.
create index executions_started on executions (project_id, started_at, id);
create index executions_completed on executions (project_id, completed_at, id) where status in ('COMPLETED', 'EXITED');
-- For upcoming activity.
create index executions_delayed on executions (project_id, wake_at, id) where status = 'WAITING' and wake_at is not null;

create table execution_steps (
  id uuid primary key,
  project_id uuid not null,
  execution_id uuid not null,
  visit integer not null,
  step_id uuid not null,
  type text not null,
  name text not null,
  status text not null check (status in ('RUNNING', 'WAITING', 'COMPLETED', 'SKIPPED', 'FAILED', 'CANCELLED')),
  branch text,
  output jsonb,
  error text,
  attempt integer not null default 1,
  -- The request of a WEBHOOK, the same at every attempt.
  request jsonb,
  scheduled_for timestamptz,
  started_at timestamptz not null default now(),
  completed_at timestamptz,
  unique (execution_id, visit)
);
-- For sealing webhook headers anew.
create index execution_steps_requests on execution_steps (id) where request is not null;

-- Deleted workflows whose executions are still to be removed, in chunks.
create table workflow_removals (workflow_id uuid primary key);

-- Ticks of SCHEDULE workflows that have begun, and the contacts that are still to enter: the segment's members at the
-- tick. A contact is removed from here in the transaction in which it enters.
create table workflow_ticks (
  workflow_id uuid not null references workflows on delete cascade,
  -- The id of the Temporal workflow of the tick.
  tick text not null,
  created_at timestamptz not null default now(),
  primary key (workflow_id, tick)
);
create table workflow_tick_contacts (
  workflow_id uuid not null,
  tick text not null,
  contact_id uuid not null,
  primary key (workflow_id, tick, contact_id),
  foreign key (workflow_id, tick) references workflow_ticks on delete cascade
);
