-- Drafts, published versions and cases of workflows. See workflow-versions.md and simulation.md in docs/decisions.

-- Ids of steps are unique per workflow, not beyond it: clients choose them. See
-- docs/decisions/workflow-versions.md for what the previous version of the program does meanwhile.
alter table workflow_transitions drop constraint workflow_transitions_from_step_id_fkey,
  drop constraint workflow_transitions_to_step_id_fkey;
alter table workflow_steps drop constraint workflow_steps_pkey;
drop index workflow_steps_workflow;
alter table workflow_steps add primary key (workflow_id, id);
create index workflow_steps_id on workflow_steps (id);
alter table workflow_transitions
  add foreign key (workflow_id, from_step_id) references workflow_steps (workflow_id, id) on delete cascade,
  add foreign key (workflow_id, to_step_id) references workflow_steps (workflow_id, id) on delete cascade;
drop index workflow_transitions_exit;
create unique index workflow_transitions_exit
  on workflow_transitions (workflow_id, from_step_id, coalesce(branch, ''));
drop index workflow_transitions_to;
create index workflow_transitions_to on workflow_transitions (workflow_id, to_step_id);

-- The revision of the newest draft. Never falls, so that a dropped draft and a later one differ.
alter table workflows add column draft_revision integer not null default 0;

create table workflow_drafts (
  workflow_id uuid primary key references workflows on delete cascade,
  project_id uuid not null,
  -- The version that it changes.
  base_version integer not null,
  -- Null where the draft does not change them.
  trigger_type text check (trigger_type in ('EVENT', 'MANUAL', 'SCHEDULE')),
  trigger_config jsonb,
  allow_reentry boolean,
  -- { steps: [..], transitions: [..] }, with the headers of webhooks sealed.
  graph jsonb not null,
  updated_at timestamptz not null default now(),
  updated_by uuid
);

-- Null for a version that single-step edits made.
alter table workflow_versions
  add column published_at timestamptz,
  add column published_by uuid,
  add column note text,
  add column trigger_type text,
  add column trigger_config jsonb,
  add column allow_reentry boolean;

-- Moves of active executions to a published version: made in sets, continued by housekeeping after a crash.
create table workflow_moves (
  workflow_id uuid not null references workflows on delete cascade,
  version integer not null,
  project_id uuid not null,
  -- Executions up to this id are done.
  last_id uuid not null default '00000000-0000-0000-0000-000000000000',
  moved integer not null default 0,
  finished_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (workflow_id, version)
);
create index workflow_moves_open on workflow_moves (workflow_id) where finished_at is null;
-- Reads the active executions of a workflow in the order of their ids.
create index executions_moving on executions (workflow_id, id) where status in ('RUNNING', 'WAITING');

create table workflow_cases (
  id uuid primary key,
  project_id uuid not null,
  workflow_id uuid not null references workflows on delete cascade,
  name text not null,
  contact jsonb not null,
  context jsonb,
  events jsonb not null default '[]',
  start_at timestamptz not null,
  -- A time, or a span from the start.
  until jsonb,
  expect jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index workflow_cases_workflow on workflow_cases (workflow_id, id);

-- IANA name, for steps that depend on the time of day.
alter table projects add column timezone text not null default 'UTC';
