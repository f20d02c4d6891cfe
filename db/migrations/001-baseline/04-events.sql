-- Events, in monthly partitions of UTC, and the counts shown of them. See events.md,
-- partitions.md and counts.md in docs/decisions.

-- Assigned under the contact's lock, so that of two events of a contact the later one has the higher number, whatever
-- the clocks of the processes say. It must not be cached in blocks.
create sequence event_positions cache 1;

create table events (
  id uuid not null,
  project_id uuid not null,
  contact_id uuid not null,
  name text not null,
  data jsonb not null default '{}',
  email_id uuid,
  created_at timestamptz not null default now(),
  position bigint not null default nextval('event_positions'),
  -- How many workflows deep it was caused; 0 for what comes from outside.
  depth smallint not null default cascade_depth(),
  primary key (id, created_at)
) partition by range (created_at);
alter sequence event_positions owned by events.position;
create table events_default partition of events default;
create index events_contact on events (project_id, contact_id, created_at, id);
create index events_name on events (project_id, name, created_at, id);
create index events_condition on events (project_id, name, contact_id, created_at);
create index events_activity on events (project_id, activity_type(name, data), created_at, id);
-- For retention. Events are written in the order of time, so this costs next to nothing.
create index events_time on events using brin (created_at) with (autosummarize = on);

-- Events that some workflow or execution waits for.
create table event_queue (
  id bigint generated always as identity primary key,
  project_id uuid not null,
  event_id uuid not null,
  -- Names the partition.
  event_created_at timestamptz not null,
  due_at timestamptz not null default now()
);
create index event_queue_due on event_queue (project_id, due_at);

-- Counts are aggregated from deltas. Writers only append deltas, so they never wait for one another; readers add the
-- deltas that are not aggregated yet.
create table event_deltas (
  project_id uuid not null,
  name text not null,
  contact_id uuid not null,
  at timestamptz not null,
  -- Whether the activity feed shows it.
  in_feed boolean not null,
  -- Of an event about a mail, which is counted by template, domain and link as well.
  event_id uuid
);
create index event_deltas_project on event_deltas (project_id);
-- Of all time. Events removed by retention no longer count as retained.
create table event_names (
  project_id uuid not null,
  name text not null,
  count bigint not null,
  retained bigint not null,
  in_feed bigint not null,
  contacts bigint not null,
  last_at timestamptz not null,
  primary key (project_id, name)
);
-- How many names of tracked events a project has. Reserved names are not counted.
create table event_name_counts (
  project_id uuid primary key,
  names integer not null
);
-- By hour, and the same by day of UTC. last_contacts: contacts whose latest event of that name is in this hour or day.
-- Their sum from one hour on is the number of contacts who have had one since.
create table event_hours (
  project_id uuid not null,
  hour timestamptz not null,
  name text not null,
  count bigint not null,
  in_feed bigint not null,
  last_contacts bigint not null,
  last_at timestamptz not null,
  primary key (project_id, hour, name)
);
create table event_days (
  project_id uuid not null,
  day timestamptz not null,
  name text not null,
  count bigint not null,
  in_feed bigint not null,
  last_contacts bigint not null,
  last_at timestamptz not null,
  primary key (project_id, day, name)
);
create table event_contacts (
  project_id uuid not null,
  name text not null,
  contact_id uuid not null,
  last_hour timestamptz not null,
  primary key (project_id, name, contact_id)
);

create table activity_deltas (
  project_id uuid not null,
  kind text not null,
  at timestamptz not null,
  delta smallint not null
);
create index activity_deltas_project on activity_deltas (project_id);
create table activity_hours (
  project_id uuid not null,
  hour timestamptz not null,
  sent bigint not null,
  delivered bigint not null,
  opened bigint not null,
  clicked bigint not null,
  bounced bigint not null,
  complained bigint not null,
  workflows_started bigint not null,
  workflows_completed bigint not null,
  primary key (project_id, hour)
);
-- The counts that auto-disable looks at, from before the project's last reset. Analytics do not show them.
create table past_rate_hours (
  project_id uuid not null,
  hour timestamptz not null,
  sent bigint not null,
  bounced bigint not null,
  complained bigint not null,
  primary key (project_id, hour)
);
