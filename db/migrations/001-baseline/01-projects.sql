-- People, projects and what a project owns as a tenant.
--
-- Hot tables (contacts, events, emails, outbox) have no foreign key to projects: each insert would lock the project's
-- row, and every request of a tenant would wait there. Deleting a project removes its rows in the background.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

create table users (
  id uuid primary key,
  email text not null unique,
  -- Null for a user who was invited and has not set a password, or who signs in with a provider only.
  password_hash text,
  email_verified boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Operates the installation. Set by `everpost user make-operator` only.
  operator boolean not null default false,
  -- Sealed. Codes are asked for once it is enabled.
  totp_secret text,
  totp_enabled_at timestamptz,
  -- Time steps of the newest codes that signed in and that confirmed a session: each code does so once.
  totp_sign_in_step integer,
  totp_confirm_step integer,
  check (totp_enabled_at is null or totp_secret is not null)
);

-- Codes that replace one of the authenticator, stored as hashes and removed on use.
create table user_recovery_codes (
  user_id uuid not null references users on delete cascade,
  code_hash bytea not null,
  primary key (user_id, code_hash)
);

create table sessions (
  token_hash bytea primary key,
  id uuid not null unique default gen_random_uuid(),
  user_id uuid not null references users on delete cascade,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  -- When, from where and with what it was last used, to the minute.
  last_seen_at timestamptz not null default now(),
  ip text,
  user_agent text,
  -- When its user last gave the password or a code, or signed in with a provider.
  proven_at timestamptz not null default now()
);
create index sessions_user on sessions (user_id);

create table projects (
  id uuid primary key,
  name text not null,
  public_key text not null unique,
  secret_key_hash bytea not null unique,
  -- Raised by every rotation: an accepting statement compares it with the one its caller was authenticated with.
  key_generation integer not null default 1,
  tracking text not null default 'ENABLED' check (tracking in ('ENABLED', 'DISABLED', 'MARKETING_ONLY')),
  language text not null default 'en',
  disabled boolean not null default false,
  disabled_reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Blocks all mail of the project. Clearing it must call releaseBlockedMail.
  sending_blocked_reason text,
  -- Set: the project no longer exists for any caller. The row is removed when its data is.
  deleted_at timestamptz,
  -- When it was last enabled by a person: auto-disable ignores bounces and complaints from before.
  enabled_at timestamptz,
  -- True while transactional mail has a billing cap: it is then counted as it is accepted.
  billing_capped boolean not null default false,
  -- Source types whose billing cap is reached; their mail is blocked.
  capped_sources text[] not null default '{}',
  -- Changes with every change of the set of verified domains. Random and not counted, so that a value that was rolled
  -- back never returns.
  senders_version uuid not null default gen_random_uuid(),
  -- What the public key may track, and the pages it may be used on; everything where empty.
  public_key_events text[] not null default '{}',
  public_key_origins text[] not null default '{}',
  -- Members without two-factor authentication have no access by session.
  require_two_factor boolean not null default false
);

-- Keys of limited scope beside the project's own pair. Shown once; only the hash is stored. A revoked key stays until the
-- audit log has forgotten it, whose rows show its name.
create table scoped_keys (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  -- The beginning of the key, to recognize it by.
  prefix text not null,
  key_hash bytea not null unique,
  scopes text[] not null,
  -- Addresses and networks; from anywhere when empty.
  allowed_ips text[] not null default '{}',
  expires_at timestamptz,
  revoked_at timestamptz,
  -- Written at most once a minute.
  last_used_at timestamptz,
  -- No reference: the id stays when the user is erased.
  created_by uuid,
  created_at timestamptz not null default now()
);
create index scoped_keys_project on scoped_keys (project_id);

-- The project of our own mail. No caller can present either key: the first is no valid key, and no key hashes to the
-- second. It has no members, so no session opens it.
insert into projects (id, name, public_key, secret_key_hash, tracking)
values ('00000000-0000-7000-8000-000000000001', 'System', 'system', '\x00', 'DISABLED');

create table memberships (
  project_id uuid not null references projects on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('VIEWER', 'MEMBER', 'ADMIN', 'OWNER')),
  created_at timestamptz not null default now(),
  -- PENDING: invited and not accepted yet.
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'PENDING')),
  primary key (project_id, user_id)
);
create index memberships_user on memberships (user_id);

-- Tokens in links of our own mail, stored as hashes and removed on use.
create table user_tokens (
  token_hash bytea primary key,
  user_id uuid not null references users on delete cascade,
  purpose text not null check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD', 'INVITATION', 'LOGIN_LINK')),
  -- Of an invitation.
  project_id uuid references projects on delete cascade,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index user_tokens_user on user_tokens (user_id, purpose);
create index user_tokens_project on user_tokens (project_id) where project_id is not null;

-- Mail that was requested for an address. The worker looks the user up later, so that the answer and its time are the
-- same whether the address has an account or not.
create table account_requests (
  id bigint generated always as identity primary key,
  email text not null,
  purpose text not null check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD')),
  created_at timestamptz not null default now()
);

create table user_identities (
  provider text not null check (provider in ('github', 'google', 'oidc')),
  subject text not null,
  user_id uuid not null references users on delete cascade,
  created_at timestamptz not null default now(),
  primary key (provider, subject)
);
create index user_identities_user on user_identities (user_id);

-- Attempts by address and by IP, each under a hash, counted over all processes.
create table auth_attempts (
  key bytea primary key,
  count integer not null,
  opened_at timestamptz not null default now(),
  -- 15 for failed log-ins; an hour or a day for sign-ups, invitations and mail.
  window_minutes integer not null default 15
);

-- Calls with a key. Public and secret keys share the window; a part of it is reserved for the secret key.
create table rate_windows (
  project_id uuid primary key,
  -- Raised with every new window, so that a process can tell which one its report belongs to.
  number bigint not null default 1,
  opened_at timestamptz not null default now(),
  granted integer not null,
  -- Of those granted: reported as spent. The others are unspent in some process, or their report has not arrived.
  settled integer not null,
  -- The limit was reached with unreported grants: from then on no process is granted more than it needs at once.
  tight boolean not null default false,
  -- What the statement that returns this row has granted: RETURNING does not see the previous row.
  last_grant integer not null,
  -- The part of granted and settled that belongs to the secret key.
  secret_granted integer not null default 0,
  secret_settled integer not null default 0,
  -- As last_grant, which is about the public key.
  last_secret_grant integer not null default 0,
  -- As tight, for the limits of the secret key.
  secret_tight boolean not null default false
);
-- Calls with a session. Only the columns of the secret key are used: sessions are one class of callers.
create table session_rate_windows (like rate_windows including all);

-- A key is written in the transaction of its request's work, so a stored key means that the work is done.
create table idempotency_keys (
  project_id uuid not null,
  key text not null,
  request text not null,
  status_code integer not null,
  -- The ids of the answer, for a client that lost it.
  response jsonb not null,
  created_at timestamptz not null default now(),
  primary key (project_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- When and why a project was disabled.
create table project_suspensions (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  reason text not null,
  -- By its bounce or complaint rate, not by a person.
  automatic boolean not null,
  disabled_at timestamptz not null default now(),
  enabled_at timestamptz
);
create index project_suspensions_project on project_suspensions (project_id, disabled_at);

-- Erasure of a project's data, on reset or deletion: background work that is resumed after a crash.
create table project_erasures (
  id uuid primary key,
  project_id uuid not null,
  kind text not null check (kind in ('RESET', 'DELETE')),
  done boolean not null default false,
  deleted bigint not null default 0,
  created_at timestamptz not null default now(),
  completed_at timestamptz
);
-- One at a time: a second reset joins the first.
create unique index project_erasures_open on project_erasures (project_id) where not done;

-- Images for template bodies. The bytes are in a folder or a bucket, under the key.
create table uploads (
  key text primary key,
  project_id uuid not null,
  content_type text not null,
  size integer not null,
  created_at timestamptz not null default now()
);
create index uploads_project on uploads (project_id);
-- Bytes of all uploads of a project. The row's lock lets concurrent uploads be counted one after the other.
create table upload_totals (
  project_id uuid primary key,
  bytes bigint not null
);
-- Keys of erased projects whose bytes are still to be removed.
create table upload_removals (key text primary key);

-- Signs WEBHOOK steps. Sealed; made when it is first needed.
create table webhook_secrets (
  project_id uuid primary key references projects on delete cascade,
  sealed text not null,
  updated_at timestamptz not null default now()
);
