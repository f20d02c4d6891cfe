-- Billing: caps, usage and reports to Stripe.

-- Outlives its project until the subscription is cancelled and all usage is reported.
create table project_billing (
  project_id uuid primary key,
  customer_id text unique,
  subscription_id text,
  subscription_status text,
  period_start timestamptz,
  period_end timestamptz,
  -- Time of the newest Stripe event that was applied; older events that arrive late are ignored.
  event_at timestamptz,
  -- False while billing is turned off: caps are not enforced until it is on again.
  in_force boolean not null default true,
  cap_transactional integer,
  cap_campaigns integer,
  cap_workflows integer,
  -- Transactional mail accepted in the period that began at reserved_period, while there is a cap.
  reserved integer not null default 0,
  reserved_period timestamptz,
  -- By source type: the period in which members were warned, and told that the cap is reached.
  warned jsonb not null default '{}',
  updated_at timestamptz not null default now()
);

-- Usage that is not aggregated yet, appended with each delivery result.
create table billing_deltas (
  id bigint generated always as identity primary key,
  project_id uuid not null,
  source_type text not null,
  hour timestamptz not null,
  count integer not null
);
create index billing_deltas_project on billing_deltas (project_id);
create table billing_hours (
  project_id uuid not null,
  hour timestamptz not null,
  source_type text not null,
  count bigint not null,
  primary key (project_id, hour, source_type)
);
-- One meter event for Stripe each, with this id as its idempotency key.
create table billing_reports (
  id uuid primary key,
  project_id uuid not null,
  customer_id text not null,
  count bigint not null,
  at timestamptz not null default now(),
  claimed_until timestamptz not null default now(),
  last_error text,
  reported_at timestamptz
);
create index billing_reports_open on billing_reports (claimed_until) where reported_at is null;
