-- What Postgres asks of Temporal, and what the reconciler compares.

-- Messages to Temporal, written in the transaction of the change that they belong to. Rows of one workflow id are
-- carried out in the order of their ids, one at a time.
create table outbox (
  id bigint generated always as identity primary key,
  queue text not null check (queue in ('control', 'events', 'starts')),
  project_id uuid not null,
  workflow_id text not null,
  action text not null constraint outbox_action_check
    check (action in ('start', 'signal', 'cancel', 'schedule', 'unschedule')),
  payload jsonb not null default '{}',
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  -- Set after too many failures of its own: waits for an operator.
  parked_at timestamptz,
  last_error text,
  created_at timestamptz not null default now()
);
create index outbox_due on outbox (queue, project_id, due_at) where parked_at is null;
create index outbox_order on outbox (workflow_id, id);
create index outbox_parked on outbox (parked_at) where parked_at is not null;

-- Workflows that Temporal reports as open during one scan of the reconciler. Removed with the scan.
create unlogged table open_runs (
  scan uuid not null,
  workflow_id text not null,
  workflow_type text not null,
  -- Open for so long that its row in Postgres must have been committed.
  past_grace boolean not null,
  at timestamptz not null default now(),
  primary key (scan, workflow_id)
);
