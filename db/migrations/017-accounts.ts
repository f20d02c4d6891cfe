import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Our own mail is recorded under this project. Neither key can be brought by anybody: the one is no key, and no
    -- key has the other for its hash. It has no members, so no session opens it either.
    insert into projects (id, name, public_key, secret_key_hash, tracking)
    values ('00000000-0000-7000-8000-000000000001', 'System', 'system', '\\x00', 'DISABLED');

    -- Gone for everybody from then on; the row goes when all that hung on it is gone.
    alter table projects add column deleted_at timestamptz;

    -- When it was last enabled by hand: what was before is forgiven.
    alter table projects add column enabled_at timestamptz;

    -- When and why a project was disabled.
    create table project_suspensions (
      id uuid primary key,
      project_id uuid not null references projects on delete cascade,
      reason text not null,
      -- By the bounces and complaints of its mail, and not by a person.
      automatic boolean not null,
      disabled_at timestamptz not null default now(),
      enabled_at timestamptz
    );
    create index project_suspensions_project on project_suspensions (project_id, disabled_at);

    -- The wiping of a project, for good or to begin anew: background work, found again after a crash.
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

    -- Somebody invited is a member in waiting; somebody who was invited and never came has no password.
    alter table memberships add column status text not null default 'ACTIVE' check (status in ('ACTIVE', 'PENDING'));

    -- What a link in a mail of ours carries; only its hash is kept, and it goes with its use.
    create table user_tokens (
      token_hash bytea primary key,
      user_id uuid not null references users on delete cascade,
      purpose text not null check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD', 'INVITATION')),
      -- Of an invitation.
      project_id uuid references projects on delete cascade,
      expires_at timestamptz not null,
      created_at timestamptz not null default now()
    );
    create index user_tokens_user on user_tokens (user_id, purpose);
    create index user_tokens_project on user_tokens (project_id) where project_id is not null;

    -- Mail that was asked for by address. Whether there is such a user is found out later, by the worker: the answer and
    -- the time that it takes are the same for every address.
    create table account_requests (
      id bigint generated always as identity primary key,
      email text not null,
      purpose text not null check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD')),
      created_at timestamptz not null default now()
    );

    -- Who a user is elsewhere.
    create table user_identities (
      provider text not null check (provider in ('github', 'google')),
      subject text not null,
      user_id uuid not null references users on delete cascade,
      created_at timestamptz not null default now(),
      primary key (provider, subject)
    );
    create index user_identities_user on user_identities (user_id);

    -- Attempts by address and by IP, each under a hash, counted over all processes together.
    create table auth_attempts (
      key bytea primary key,
      count integer not null,
      opened_at timestamptz not null default now()
    );
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop table project_erasures, project_suspensions, auth_attempts, user_identities, account_requests, user_tokens;
    alter table memberships drop column status;
    alter table projects drop column deleted_at, drop column enabled_at;
    delete from projects where id = '00000000-0000-7000-8000-000000000001';
  `);
}
