-- The id of this installation, one row. A Temporal namespace belongs to one installation: workers compare this id with the
-- one that is stored there (temporal/namespace-owner.ts).
create table installation (
  id uuid primary key default gen_random_uuid(),
  only_row boolean not null default true unique check (only_row),
  created_at timestamptz not null default now()
);
insert into installation default values;
