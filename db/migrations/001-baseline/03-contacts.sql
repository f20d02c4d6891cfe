-- Contacts, their counts and jobs that change many of them. See contact-lists.md and limits.md in docs/decisions.

create table contacts (
  id uuid primary key,
  project_id uuid not null,
  email text not null,
  subscribed boolean not null,
  data jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (project_id, email),
  -- Measures the text only when the binary form is large, which keeps small writes cheap.
  constraint contacts_data_size check (pg_column_size(data) <= 131072 or octet_length(data::text) <= 131072)
);
-- Lists by time. With both states of subscription side by side it serves the filter and, merged, its absence.
create index contacts_created on contacts (project_id, subscribed, created_at, id);
-- Both start with the project, so that a word that is common in other tenants' addresses costs nothing.
create index contacts_search on contacts using gin (project_id, email gin_trgm_ops);
create index contacts_data on contacts using gin (project_id, data jsonb_path_ops);
-- contacts_data finds the value of a key; this one finds whether the key exists.
create index contacts_data_keys on contacts using gin (project_id, data_keys(data));

create table contact_counts (
  project_id uuid primary key,
  contacts bigint not null,
  subscribed bigint not null,
  -- How many custom fields the project has.
  fields integer not null default 0
);
-- The type is that of the first value seen and stays; contacts is how many have the key.
create table contact_fields (
  project_id uuid not null,
  key text not null,
  type text not null check (type in ('number', 'boolean', 'date', 'string')),
  contacts bigint not null,
  primary key (project_id, key)
);
-- Changes that the two tables above do not include yet. Writers only append here, so they never wait for one another.
create table contact_count_deltas (
  project_id uuid not null,
  contacts smallint not null,
  subscribed smallint not null,
  -- Keys with the type of their value; keys alone.
  gained jsonb,
  lost jsonb,
  at timestamptz not null default clock_timestamp()
);
create index contact_count_deltas_project on contact_count_deltas (project_id, at);

-- Addresses that a project must not write to. A row outlives its contact; then only the hash of the address is left.
create table suppressions (
  id uuid primary key,
  project_id uuid not null,
  address_hash bytea not null,
  email text,
  contact_id uuid,
  -- A COMPLAINT ends the subscription, the others all mail.
  reason text not null check (reason in ('HARD_BOUNCE', 'COMPLAINT', 'MANUAL')),
  -- Why it was added by hand.
  note text,
  email_id uuid,
  created_at timestamptz not null default now(),
  unique (project_id, address_hash)
);
create index suppressions_project on suppressions (project_id, id);
create index suppressions_contact on suppressions (contact_id) where contact_id is not null;

create table jobs (
  id uuid primary key,
  project_id uuid not null,
  type text not null
    check (type in ('IMPORT', 'SUPPRESSION_IMPORT', 'BULK_SUBSCRIBE', 'BULK_UNSUBSCRIBE', 'BULK_DELETE')),
  status text not null default 'QUEUED' check (status in ('QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
  total integer not null,
  -- Everything before this position is done, in the transaction that moved it.
  processed integer not null default 0,
  result jsonb not null,
  failed_reason text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  -- From then until it ends the job has one of its project's slots. Without one it waits QUEUED, unknown to Temporal.
  admitted_at timestamptz
);
create index jobs_project on jobs (project_id, id);
create index jobs_open on jobs (project_id, id) where status in ('QUEUED', 'RUNNING');
create index jobs_waiting on jobs (project_id) where status = 'QUEUED' and admitted_at is null;
-- Input of a job, apart from the row that is written often. Removed when the job has ended.
create table job_inputs (
  job_id uuid primary key references jobs on delete cascade deferrable initially deferred,
  -- Of an import: { mapping, dryRun, subscribed }.
  options jsonb not null default '{}',
  -- Of an import: where the first row that is not processed begins, in bytes and as the number of the row before it.
  position bigint not null default 0,
  "row" integer not null default 0,
  -- The size of the file.
  bytes bigint not null default 0
);
-- The input in pieces, so that a job continues where it stopped without reading what comes before.
create table job_chunks (
  job_id uuid not null references job_inputs on delete cascade deferrable initially deferred,
  number integer not null,
  -- A part of the file, of 1 MiB each but the last; or the ids of up to 1,000 contacts.
  content bytea,
  contact_ids uuid[],
  primary key (job_id, number),
  check (num_nonnulls(content, contact_ids) = 1)
);
-- All bad rows of an import, for 30 days.
create table job_errors (
  job_id uuid not null references jobs on delete cascade,
  "row" integer not null,
  project_id uuid not null,
  email text,
  error text not null,
  primary key (job_id, "row")
);
-- Finds the addresses of a deleted contact.
create index job_errors_email on job_errors (project_id, lower(email));
