-- Segments and tracked membership. See conditions.md and tracked-segments.md in docs/decisions.

create table segments (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  slug text not null,
  name text not null,
  description text,
  type text not null check (type in ('DYNAMIC', 'STATIC')),
  condition jsonb,
  track_membership boolean not null default false,
  member_count integer not null default 0,
  -- The condition's result changes with time alone; up to swept_at that has been applied.
  time_dependent boolean not null default false,
  swept_at timestamptz not null default now(),
  -- From then on all contacts must be evaluated once more.
  reconcile_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- What its own condition uses, written whenever it is saved, so that checking one segment reads no other condition.
  filter_count integer not null default 0,
  -- { "<segment id>": how many filters name it }
  refers_to jsonb not null default '{}',
  own_dependencies text[] not null default '{}',
  -- As time_dependent, without the segments that it refers to.
  own_time_dependent boolean not null default false,
  unique (project_id, slug),
  check ((type = 'DYNAMIC') = (condition is not null))
);
create index segments_time_dependent on segments (swept_at) where track_membership and time_dependent;
create index segments_reconcile on segments (reconcile_at) where reconcile_at is not null;

-- Members of a static segment, and known members of a tracked dynamic one. No foreign key to contacts: inserting half
-- a million members would lock each contact. Deleted contacts are removed by a trigger.
create table segment_members (
  segment_id uuid not null references segments on delete cascade,
  contact_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (segment_id, contact_id)
);
create index segment_members_contact on segment_members (contact_id);

-- What the tracked dynamic segments of a project depend on, through references to other segments too. Only a change of
-- one of these is queued, and only the segments that depend on it are evaluated.
create table segment_dependencies (
  project_id uuid not null,
  -- A standard field, 'data.<key>', 'event.<name>' or 'segment.<id>'.
  dependency text not null,
  segment_id uuid not null references segments on delete cascade,
  primary key (project_id, dependency, segment_id)
);
create index segment_dependencies_segment on segment_dependencies (segment_id);

-- Contacts to evaluate. Null dependencies: everything about the contact may have changed.
create table contact_changes (
  id bigint generated always as identity primary key,
  project_id uuid not null,
  contact_id uuid not null,
  dependencies text[],
  -- A change of a contact may move it into or out of a segment, which is an event again.
  depth smallint not null default cascade_depth()
);
create index contact_changes_project on contact_changes (project_id, id);

-- Segments whose cached count is out of date. Append-only, so that writers never wait for one another.
create table segment_recounts (segment_id uuid not null);
