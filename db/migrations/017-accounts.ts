import type { Knex } from 'knex';

const billing = `
    alter table projects
      -- Transactional mail is counted as it is accepted: there is a cap on it.
      add column billing_capped boolean not null default false,
      -- Mail of these sources is held: their caps are reached.
      add column capped_sources text[] not null default '{}';

    -- Stays when the project goes, until the subscription is cancelled and all use is reported.
    create table project_billing (
      project_id uuid primary key,
      customer_id text unique,
      subscription_id text,
      subscription_status text,
      period_start timestamptz,
      period_end timestamptz,
      -- Of the newest of Stripe's events that was looked at: older ones that come late say nothing new.
      event_at timestamptz,
      -- False while billing is turned off: caps wait until it is on again.
      in_force boolean not null default true,
      cap_transactional integer,
      cap_campaigns integer,
      cap_workflows integer,
      -- Transactional mail accepted in the period that began then, while there is a cap.
      reserved integer not null default 0,
      reserved_period timestamptz,
      -- By source: the period in which its members were warned, and told that the cap is reached.
      warned jsonb not null default '{}',
      updated_at timestamptz not null default now()
    );

    -- Mail that was sent, noted with the result of each; added up by the hour, and put into reports to Stripe.
    create table billing_notes (
      id bigint generated always as identity primary key,
      project_id uuid not null,
      source_type text not null,
      hour timestamptz not null,
      count integer not null
    );
    create index billing_notes_project on billing_notes (project_id);
    create table billing_hours (
      project_id uuid not null,
      hour timestamptz not null,
      source_type text not null,
      count bigint not null,
      primary key (project_id, hour, source_type)
    );
    -- One event for Stripe each, under this id, which it takes only once.
    create table billing_reports (
      id uuid primary key,
      project_id uuid not null,
      customer_id text not null,
      count bigint not null,
      at timestamptz not null default now(),
      claimed_until timestamptz not null default now(),
      last_error text,
      reported_at timestamptz
    );
    create index billing_reports_open on billing_reports (claimed_until) where reported_at is null;

    -- From when on mail counts: the subscription's period, or else the month of UTC.
    create function billing_period(p_project_id uuid) returns timestamptz language sql stable as $$
      select coalesce(
        (select period_start from project_billing where project_id = p_project_id and period_end > now()),
        date_trunc('month', now(), 'UTC'))
    $$;

    -- What holds mail: as before, or the cap of its source.
    alter function sending_hold(uuid, text) rename to sending_hold_itself;
    create function sending_hold(p_project_id uuid, p_domain text, p_source text default null) returns text
    language plpgsql stable as $$
    begin
      if p_source is not null and exists (select 1 from projects where id = p_project_id and p_source = any (capped_sources))
      then return coalesce(sending_hold_itself(p_project_id, p_domain), 'billing cap reached'); end if;
      return sending_hold_itself(p_project_id, p_domain);
    end $$;
    alter function campaign_obstacle(uuid) rename to campaign_obstacle_itself;
    create function campaign_obstacle(p_campaign_id uuid) returns text language sql stable as $$
      select coalesce(campaign_obstacle_itself(p_campaign_id), (
        select 'billing cap reached' from campaigns c join projects p on p.id = c.project_id
        where c.id = p_campaign_id and 'CAMPAIGN' = any (p.capped_sources)))
    $$;`;

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

    ${billing}

    -- Images for the bodies of templates; the bytes are in a folder or a bucket, under the key.
    create table uploads (
      key text primary key,
      project_id uuid not null,
      content_type text not null,
      size integer not null,
      created_at timestamptz not null default now()
    );
    create index uploads_project on uploads (project_id);
    -- Of wiped projects: bytes that are to go.
    create table upload_removals (key text primary key);

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
    drop function sending_hold(uuid, text, text), campaign_obstacle(uuid);
    alter function sending_hold_itself(uuid, text) rename to sending_hold;
    alter function campaign_obstacle_itself(uuid) rename to campaign_obstacle;
    drop function billing_period(uuid);
    drop table billing_reports, billing_hours, billing_notes, project_billing;
    alter table projects drop column billing_capped, drop column capped_sources;
    drop table upload_removals, uploads, project_erasures, project_suspensions, auth_attempts, user_identities, account_requests, user_tokens;
    alter table memberships drop column status;
    alter table projects drop column deleted_at, drop column enabled_at;
    delete from projects where id = '00000000-0000-7000-8000-000000000001';
  `);
}
