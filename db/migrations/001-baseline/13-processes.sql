-- The processes of the installation. Each writes its row as a heartbeat and removes it when it stops.
create table processes (
  id uuid primary key,
  kind text not null check (kind in ('api', 'worker')),
  version text not null,
  host text not null,
  pid integer not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
