import type { Knex } from 'knex';

const notedKinds = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'];
const states = ['PENDING', 'SENT', 'FAILED', 'SKIPPED', 'CANCELLED', 'UNKNOWN'];
const counted: Record<string, string> = {
  ...Object.fromEntries(states.map((state) => [state.toLowerCase(), `state = '${state}'`])),
  delivered: 'delivered_at is not null',
  opened: 'opened_at is not null',
  clicked: 'clicked_at is not null',
  bounced: 'bounced_at is not null',
  hard_bounced: "bounced_at is not null and coalesce(lower(bounce_type), '') in ('hard', 'permanent')",
  complained: 'complained_at is not null',
  unsubscribed: 'unsubscribed_at is not null',
};
const sums = Object.values(counted).map((condition) => `coalesce(sum(by) filter (where ${condition}), 0)`);
const columns = Object.keys(counted);

/** As 015 has it, but for how it looks an address up. */
const beginCampaignMails = (isSuppressed: string): string => `
    create or replace function begin_campaign_mails(
      p_campaign_id uuid, p_batch_id uuid, p_token uuid, p_ids uuid[], p_subjects text[], p_recipients text[]
    ) returns table (id uuid, verdict text, reason text, attempts integer, unknown_outcomes integer) language plpgsql
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
              when ${isSuppressed} then 'suppressed'
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
    end $$;`;

/** With a say in whose times are looked at. */
export const noteMails = (those: string): string => `
    create or replace function note_mails() returns trigger language plpgsql as $$
    begin
      -- Put into a batch or begun, every one of them: nothing that anybody counts, and it happens to all mail.
      if not exists (select 1 from after where status not in ('PENDING', 'SENDING'))
        and not exists (select 1 from before where status not in ('PENDING', 'SENDING')) then return null; end if;
      insert into activity_notes (project_id, kind, at, by)
      select project_id, kind, at, sum(by) from (
        select project_id, sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at, -1 as by from before ${those}
        union all
        select project_id, sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at, 1 from after ${those}
      ) mail, lateral (values ${notedKinds.map((kind) => `('${kind}', ${kind}_at)`).join(', ')}) as times (kind, at)
      where at is not null group by project_id, kind, at having sum(by) <> 0;
      if not exists (select 1 from after where campaign_id is not null) then return null; end if;
      insert into campaign_count_deltas (campaign_id, ${columns.join(', ')})
      select campaign_id, ${sums.join(',\n        ')}
      from (
        select *, recipient_state(status) as state, -1 as by from before where campaign_id is not null
        union all
        select *, recipient_state(status), 1 from after where campaign_id is not null
      ) mail
      group by campaign_id
      having (${sums.join(', ')}) <> (${sums.map(() => 0).join(', ')});
      return null;
    end $$;`;

// See docs/decisions/045-lean-ledger.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- For the statement, and not by row: mails are written in handfuls, and what a trigger costs it costs once for all.
    -- Without a condition, since those are read and planned anew by every statement.
    drop trigger emails_count_campaign on emails;
    drop function count_campaign_mail();
    drop trigger emails_note_changed on emails;
    ${noteMails('')}
    create trigger emails_noted after update on emails referencing old table as before new table as after
      for each statement execute function note_mails();

    -- One function that keeps its plan, where three called one another: it is asked for every handful of mails.
    drop function campaign_obstacle(uuid), campaign_obstacle_itself(uuid);
    drop function sending_hold(uuid, text, text);
    drop function sending_hold_itself(uuid, text);
    create function sending_hold(p_project_id uuid, p_domain text, p_source text default null) returns text
    language plpgsql stable as $$
    declare
      project record;
    begin
      select p.disabled, p.sending_held_reason, p.capped_sources into project from projects p where p.id = p_project_id;
      if not found or project.disabled then return 'project disabled'; end if;
      if project.sending_held_reason is not null then return project.sending_held_reason; end if;
      if p_domain <> '' and p_project_id <> '00000000-0000-7000-8000-000000000001' and not exists (
        select 1 from domains d where d.project_id = p_project_id and d.domain = p_domain and d.status = 'VERIFIED'
      ) then return 'domain not verified'; end if;
      if p_source = any (project.capped_sources) then return 'billing cap reached'; end if;
      return null;
    end $$;
    create function campaign_obstacle(p_campaign_id uuid) returns text language plpgsql stable as $$
    begin
      return (select sending_hold(c.project_id, coalesce(c.from_domain, split_part(c.from_email, '@', 2)), 'CAMPAIGN')
        from campaigns c where c.id = p_campaign_id);
    end $$;
    ${beginCampaignMails(`
      coalesce((select s.reason = 'HARD_BOUNCE' from suppressions s
        where s.project_id = e.project_id and s.address_hash = address_hash(e.project_id, k.email) limit 1), false)`)}

    -- Mails whose result is in the ledger, and of which it is not told yet. Before, the ledger said so itself, and was
    -- written once more for every mail, with all its indexes.
    create table email_results (
      email_id uuid primary key,
      contact_id uuid not null
    );
    insert into email_results (email_id, contact_id)
    select id, contact_id from emails where not told and (sent_at is not null or status = 'FAILED');
    -- What becomes of it is told to nobody.
    alter table emails add column quiet boolean not null default false;
    update emails set quiet = true where id in (select email_id from email_contents where untracked);
    drop index emails_untold;
    alter table emails drop column told;
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    alter table emails add column told boolean not null default false;
    update emails e set told = true
    where quiet or (e.sent_at is not null or e.status = 'FAILED')
      and not exists (select 1 from email_results r where r.email_id = e.id);
    create index emails_untold on emails (id) where not told and (sent_at is not null or status = 'FAILED');
    alter table emails drop column quiet;
    drop table email_results;

    ${beginCampaignMails('is_suppressed(e.project_id, k.email)')}
    drop function campaign_obstacle(uuid);
    drop function sending_hold(uuid, text, text);
    create function sending_hold_itself(p_project_id uuid, p_domain text) returns text language plpgsql stable as $$
    declare
      project record;
    begin
      select p.disabled, p.sending_held_reason into project from projects p where p.id = p_project_id;
      if not found or project.disabled then return 'project disabled'; end if;
      if project.sending_held_reason is not null then return project.sending_held_reason; end if;
      if p_domain <> '' and p_project_id <> '00000000-0000-7000-8000-000000000001' and not exists (
        select 1 from domains d where d.project_id = p_project_id and d.domain = p_domain and d.status = 'VERIFIED'
      ) then return 'domain not verified'; end if;
      return null;
    end $$;
    create function sending_hold(p_project_id uuid, p_domain text, p_source text default null) returns text
    language plpgsql stable as $$
    begin
      if p_source is not null and exists (select 1 from projects where id = p_project_id and p_source = any (capped_sources))
      then return coalesce(sending_hold_itself(p_project_id, p_domain), 'billing cap reached'); end if;
      return sending_hold_itself(p_project_id, p_domain);
    end $$;
    create function campaign_obstacle_itself(p_campaign_id uuid) returns text language sql stable as $$
      select sending_hold_itself(c.project_id, coalesce(c.from_domain, split_part(c.from_email, '@', 2)))
      from campaigns c where c.id = p_campaign_id
    $$;
    create function campaign_obstacle(p_campaign_id uuid) returns text language sql stable as $$
      select coalesce(campaign_obstacle_itself(p_campaign_id), (
        select 'billing cap reached' from campaigns c join projects p on p.id = c.project_id
        where c.id = p_campaign_id and 'CAMPAIGN' = any (p.capped_sources)))
    $$;

    drop trigger emails_noted on emails;
    drop function note_mails();
    create trigger emails_note_changed
      after update of ${notedKinds.map((kind) => `${kind}_at`).join(', ')} on emails for each row
      execute function note_mail();
    create function count_campaign_mail() returns trigger language plpgsql as $$
    begin
      insert into campaign_count_deltas (campaign_id, ${columns.join(', ')})
      select new.campaign_id, ${sums.join(',\n        ')}
      from (
        select old.*, recipient_state(old.status) as state, -1 as by
        union all
        select new.*, recipient_state(new.status), 1
      ) mail;
      return null;
    end $$;
    create trigger emails_count_campaign after update on emails for each row when (new.campaign_id is not null)
      execute function count_campaign_mail();
  `);
}
