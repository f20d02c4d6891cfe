-- Sender domains and their keys. See docs/decisions/domains.md.

create table domains (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  domain text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'VERIFIED')),
  -- The demo domain and the system sender: always verified, never checked.
  managed boolean not null default false,
  verified_at timestamptz,
  last_checked_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Part of the id of its Temporal workflow: a lost one is started again under the next generation.
  generation integer not null default 1,
  loop_started_at timestamptz not null default now(),
  -- Failed checks in a row.
  failed_checks integer not null default 0,
  -- What the last check found of each record, by its type and name.
  checks jsonb not null default '{}',
  -- One that was never verified is removed after a while.
  ever_verified boolean not null default false,
  -- When the members were warned of its removal.
  removal_warned_at timestamptz,
  constraint domains_project_domain unique (project_id, domain)
);
-- A name is exclusive once it is verified. Of two projects that verify it at the same moment, one wins here.
create unique index domains_verified on domains (domain) where status = 'VERIFIED';
create index domains_never_verified on domains (created_at, id) where not managed and not ever_verified;
create index domains_checked on domains (last_checked_at) where not managed;

-- One key signs. Another may be published ahead of a rotation, or stay after it for mail on its way.
create table domain_keys (
  id uuid primary key,
  domain_id uuid not null references domains on delete cascade,
  selector text not null,
  -- Sealed with SECRET_KEY, bound to this row's id.
  private_key text not null,
  public_key text not null,
  signs boolean not null default false,
  created_at timestamptz not null default now(),
  unique (domain_id, selector)
);
create unique index domain_keys_signing on domain_keys (domain_id) where signs;
