import type { Knex } from 'knex';

// See docs/decisions/070-campaign-ledger.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table campaigns (
      id uuid primary key,
      project_id uuid not null references projects on delete cascade,
      name text not null,
      description text,
      subject text not null,
      body text not null,
      from_email text not null,
      -- In the form in which domains are stored.
      from_domain text,
      from_name text,
      reply_to text,
      type text not null default 'MARKETING' check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
      status text not null default 'DRAFT' check (status in ('DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED')),
      audience_type text not null check (audience_type in ('ALL', 'SEGMENT', 'FILTERED')),
      segment_id uuid,
      audience_condition jsonb,
      -- Where the body once came from; it may be gone by now.
      template_id uuid,
      -- How many the audience had at the last save or look; from the freeze on the recipients themselves are counted.
      audience_count integer not null default 0,
      rate_per_minute integer check (rate_per_minute > 0),
      paused boolean not null default false,
      -- PERSON and BRAKE wait for a person, HOLD for its cause to go.
      paused_by text check (paused_by in ('PERSON', 'BRAKE', 'HOLD')),
      pause_reason text,
      -- What had happened when it was last resumed: the brake judges what has come since.
      forgiven_sent integer not null default 0,
      forgiven_bounced integer not null default 0,
      forgiven_complained integer not null default 0,
      -- Raised with every start of its workflow.
      generation integer not null default 0,
      scheduled_for timestamptz,
      -- When somebody last said so.
      scheduled_at timestamptz,
      started_at timestamptz,
      frozen_at timestamptz,
      sent_at timestamptz,
      cancelled_at timestamptz,
      -- Its e-mail records still name sender and subject.
      deleted_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      check (paused = (paused_by is not null)),
      check (status <> 'SCHEDULED' or scheduled_for is not null)
    );
    -- A project has thousands of campaigns at most: the other orders and the search go through those.
    create index campaigns_project on campaigns (project_id, created_at) where deleted_at is null;
    create index campaigns_active on campaigns (id) where status in ('SCHEDULED', 'SENDING');
    create index campaigns_segment on campaigns (segment_id) where segment_id is not null;
    create index campaigns_template on campaigns (template_id) where template_id is not null;

    alter table emails
      -- Of campaign mail, whose content is the campaign's: who it went to, and the subject where it has variables.
      -- Of other mail these stand in email_contents.
      add column to_email text,
      add column rendered_subject text,
      -- Through this very mail.
      add column if not exists unsubscribed_at timestamptz;

    -- Recipients are put into batches when they are frozen, so that claiming them costs no write. Those that are put off
    -- leave their batch, and are put into another one when they are due.
    alter table delivery_batches add column campaign_id uuid;
    create index delivery_batches_campaign on delivery_batches (campaign_id) where campaign_id is not null;

    create table campaign_paces (
      campaign_id uuid primary key references campaigns on delete cascade,
      -- From when on a throttled campaign may send again.
      next_at timestamptz not null default now(),
      -- How many recipients were done when, and how fast that has gone of late.
      sampled_at timestamptz not null default now(),
      sampled_done integer not null default 0,
      per_second float8
    );

    create table campaign_counts (
      campaign_id uuid primary key references campaigns on delete cascade,
      pending integer not null,
      sent integer not null,
      failed integer not null,
      skipped integer not null,
      cancelled integer not null,
      unknown integer not null,
      delivered integer not null,
      opened integer not null,
      clicked integer not null,
      bounced integer not null,
      hard_bounced integer not null,
      complained integer not null,
      unsubscribed integer not null
    );
    -- What has changed since. Only appended to by those who write recipients, so that they never wait for one another.
    create table campaign_count_deltas (
      campaign_id uuid not null,
      pending integer not null default 0,
      sent integer not null default 0,
      failed integer not null default 0,
      skipped integer not null default 0,
      cancelled integer not null default 0,
      unknown integer not null default 0,
      delivered integer not null default 0,
      opened integer not null default 0,
      clicked integer not null default 0,
      bounced integer not null default 0,
      hard_bounced integer not null default 0,
      complained integer not null default 0,
      unsubscribed integer not null default 0
    );
    create index campaign_count_deltas_campaign on campaign_count_deltas (campaign_id);

    -- A test mail of a campaign shall look as the campaign will, and leave no traces.
    alter table email_contents add column if not exists untracked boolean not null default false;

    -- Shared by those who begin mails of a campaign, and taken alone by who stops it.
    create function campaign_lock(p_campaign_id uuid) returns bigint language sql immutable parallel safe as $$
      select hashtextextended('campaign/' || p_campaign_id::text, 0)
    $$;

    -- Why mail of a campaign may not leave just now, through no fault of anybody who gets it; null: it may.
    create function campaign_obstacle(p_campaign_id uuid) returns text language sql stable as $$
      select sending_hold(c.project_id, coalesce(c.from_domain, split_part(c.from_email, '@', 2)))
      from campaigns c where c.id = p_campaign_id
    $$;

    -- The last look before the wire, for some mails of one campaign: the lease is held, the campaign goes on, it may be
    -- sent from there, and each recipient still wants it. A function, because the statements in it must see what was
    -- decided while it waited for the lock: once the API has answered that a campaign is paused, no mail of it begins.
    create function begin_campaign_mails(
      p_campaign_id uuid, p_batch_id uuid, p_token uuid, p_ids uuid[], p_subjects text[], p_recipients text[]
    ) returns table (id uuid, verdict text, reason text, attempts integer, unknown_outcomes integer) language plpgsql
    -- Planning it anew for every handful, as it otherwise would, costs more than carrying it out.
    set plan_cache_mode = force_generic_plan
    as $$
    #variable_conflict use_column
    declare
      campaign_type text;
      obstacle text;
    begin
      perform pg_advisory_xact_lock_shared(campaign_lock(p_campaign_id));
      select c.type into campaign_type from campaigns c
      where c.id = p_campaign_id and c.status = 'SENDING' and not c.paused;
      if not found then
        return query select asked.id, 'stopped', null::text, 0, 0 from unnest(p_ids) as asked (id);
        return;
      end if;
      perform 1 from delivery_batches b where b.id = p_batch_id and b.lease_token = p_token and b.lease_until > now();
      if not found then return; end if;
      obstacle := campaign_obstacle(p_campaign_id);
      if obstacle is not null then
        return query select asked.id, 'held', obstacle, 0, 0 from unnest(p_ids) as asked (id);
        return;
      end if;
      return query
        -- Each row by its own id (the inner limits see to that): the planner would rather read the whole batch.
        with asked as materialized (
          select e.id, ask.subject, ask.recipient, case
              when k.id is null then 'contact deleted'
              when campaign_type <> 'TRANSACTIONAL' and not k.subscribed then 'unsubscribed'
              when is_suppressed(e.project_id, k.email) then 'suppressed'
            end as skip
          from unnest(p_ids, p_subjects, p_recipients) as ask (id, subject, recipient)
          cross join lateral (select * from emails where emails.id = ask.id limit 1) e
          left join lateral (select * from contacts where contacts.id = e.contact_id limit 1) k on true
          where e.batch_id = p_batch_id and e.status = 'PENDING'
        )
        update emails e set
          status = case when asked.skip is null then 'SENDING' else 'SKIPPED' end,
          attempts = case when asked.skip is null then e.attempts + 1 else e.attempts end,
          reason = coalesce(asked.skip, e.reason),
          to_email = case when asked.skip is null then asked.recipient else e.to_email end,
          rendered_subject = case when asked.skip is null then asked.subject else e.rendered_subject end,
          updated_at = now()
        from asked where e.id = asked.id and e.status = 'PENDING'
        returning e.id, case when asked.skip is null then 'go' else 'skipped' end, asked.skip, e.attempts,
          e.unknown_outcomes;
    end $$;

    -- The six states that the arithmetic of a campaign knows.
    create function recipient_state(status text) returns text language sql immutable parallel safe as $$
      select case
        when status in ('PENDING', 'SENDING') then 'PENDING'
        when status in ('FAILED', 'SKIPPED', 'CANCELLED', 'UNKNOWN') then status
        else 'SENT'
      end
    $$;

    create function count_campaign_mail() returns trigger language plpgsql as $$
    declare
      before text := recipient_state(old.status);
      after text := recipient_state(new.status);
    begin
      insert into campaign_count_deltas (campaign_id, pending, sent, failed, skipped, cancelled, unknown,
        delivered, opened, clicked, bounced, hard_bounced, complained, unsubscribed)
      values (new.campaign_id,
        (after = 'PENDING')::integer - (before = 'PENDING')::integer,
        (after = 'SENT')::integer - (before = 'SENT')::integer,
        (after = 'FAILED')::integer - (before = 'FAILED')::integer,
        (after = 'SKIPPED')::integer - (before = 'SKIPPED')::integer,
        (after = 'CANCELLED')::integer - (before = 'CANCELLED')::integer,
        (after = 'UNKNOWN')::integer - (before = 'UNKNOWN')::integer,
        (new.delivered_at is not null)::integer - (old.delivered_at is not null)::integer,
        (new.opened_at is not null)::integer - (old.opened_at is not null)::integer,
        (new.clicked_at is not null)::integer - (old.clicked_at is not null)::integer,
        (new.bounced_at is not null)::integer - (old.bounced_at is not null)::integer,
        (new.bounced_at is not null and coalesce(lower(new.bounce_type), '') in ('hard', 'permanent'))::integer
          - (old.bounced_at is not null and coalesce(lower(old.bounce_type), '') in ('hard', 'permanent'))::integer,
        (new.complained_at is not null)::integer - (old.complained_at is not null)::integer,
        (new.unsubscribed_at is not null)::integer - (old.unsubscribed_at is not null)::integer);
      return null;
    end $$;
    -- By row, because other mail then pays for no more than a look at one column.
    create trigger emails_count_campaign
      after update of status, delivered_at, opened_at, clicked_at, bounced_at, bounce_type, complained_at, unsubscribed_at
      on emails for each row
      when (new.campaign_id is not null and (
        recipient_state(old.status) <> recipient_state(new.status)
        or (old.delivered_at is null) <> (new.delivered_at is null)
        or (old.opened_at is null) <> (new.opened_at is null)
        or (old.clicked_at is null) <> (new.clicked_at is null)
        or (old.bounced_at is null) <> (new.bounced_at is null)
        or old.bounce_type is distinct from new.bounce_type
        or (old.complained_at is null) <> (new.complained_at is null)
        or (old.unsubscribed_at is null) <> (new.unsubscribed_at is null)))
      execute function count_campaign_mail();
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop trigger emails_count_campaign on emails;
    drop function count_campaign_mail(), recipient_state(text);
    drop function begin_campaign_mails(uuid, uuid, uuid, uuid[], text[], text[]), campaign_obstacle(uuid),
      campaign_lock(uuid);
    alter table email_contents drop column untracked;
    drop table campaign_count_deltas, campaign_counts, campaign_paces;
    drop index delivery_batches_campaign;
    alter table delivery_batches drop column campaign_id;
    alter table emails drop column unsubscribed_at, drop column rendered_subject, drop column to_email;
    drop table campaigns;
  `);
}
