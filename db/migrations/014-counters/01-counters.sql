-- One table of counters and one queue of changes for what is counted. See docs/decisions/counts.md.

-- The numbers of a subject, such as 'campaign/<id>', by name. `period` is the start of an hour or a day of UTC, or
-- -infinity for all time; `part` divides a subject, such as a workflow into its steps. Updates change no key, so they are
-- HOT where the page has room.
create table counters (
  project_id uuid not null,
  subject text collate "C" not null,
  period timestamptz not null default '-infinity',
  part text collate "C" not null default '',
  counts jsonb not null,
  primary key (project_id, subject, period, part)
) with (fillfactor = 70);

-- Changes that `counters` does not include yet. Append-only, so that writers never wait for one another.
create table counter_deltas (
  project_id uuid not null,
  subject text collate "C" not null,
  period timestamptz not null default '-infinity',
  part text collate "C" not null default '',
  counts jsonb not null
);
create index counter_deltas_subject on counter_deltas (project_id, subject);
