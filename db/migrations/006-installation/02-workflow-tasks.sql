-- Temporal workflows whose task fails again and again, mostly because the running code does not match their history. Workers
-- write them; a row goes when its workflow continues or ends (services/operators/stuck-workflows.ts).
create table stuck_workflows (
  run_id text primary key,
  workflow_id text not null,
  workflow_type text not null,
  failure text not null,
  failures integer not null default 1,
  first_failed_at timestamptz not null default now(),
  last_failed_at timestamptz not null default now()
);

-- The build of the workflow code that a worker runs; null for the API and for versions without builds.
alter table processes add column build text;
