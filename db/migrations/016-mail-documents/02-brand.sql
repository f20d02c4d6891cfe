-- What documents are rendered with.

create table brand_kits (
  project_id uuid primary key references projects on delete cascade,
  -- As the API shows it, without updatedAt.
  kit jsonb not null,
  updated_at timestamptz not null default now()
);

-- Blocks that documents name, at most 200 per project.
create table saved_blocks (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  kind text not null check (kind in ('HEADER', 'FOOTER', 'SECTION')),
  document jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index saved_blocks_project on saved_blocks (project_id, id);

-- Adds the type of jobs that render documents again. A worker of the version before does not know it, and leaves such a
-- job unfinished until a worker of this version takes it.
alter table jobs drop constraint jobs_type_check;
alter table jobs add constraint jobs_type_check check (type in
  ('IMPORT', 'SUPPRESSION_IMPORT', 'BULK_SUBSCRIBE', 'BULK_UNSUBSCRIBE', 'BULK_DELETE', 'RETRY_EXECUTIONS', 'RENDER'));
