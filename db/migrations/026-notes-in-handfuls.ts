import type { Knex } from 'knex';
import { noteMails } from './021-lean-ledger.ts';
import { turnCampaignMails } from './025-campaign-wire.ts';

// Events and mails are written in handfuls: what their triggers cost, they shall cost once for all.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Events are written under their contact's lock, and so are waits: whoever comes second sees the first.
    -- One by one looked up (the inner limits see to that), and not by going through all executions.
    drop trigger events_queue on events;
    drop function queue_event();
    ${noteEvents(`
      insert into event_queue (project_id, event_id, event_created_at)
      select e.project_id, e.id, e.created_at from added e
      where coalesce(
        (select true from workflows w where w.project_id = e.project_id and w.event_name = e.name limit 1),
        (select true from executions x
          where x.project_id = e.project_id and x.contact_id = e.contact_id and x.awaits = e.name limit 1));`)}

    -- Of a mail that has just been sent nothing was noted before.
    ${noteMails('where num_nonnulls(sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at) > 0')}

    -- Who it is for, so that booking need not look that up.
    alter table campaign_wire add column contact_id uuid;
    update campaign_wire w set contact_id = e.contact_id from emails e where e.id = w.email_id;
    drop function turn_campaign_mails(uuid, uuid[], uuid[], uuid[], text[], text[], uuid[], integer[], jsonb[]);
    create function turn_campaign_mails(
      p_campaign_id uuid, p_batches uuid[], p_tokens uuid[], p_ids uuid[], p_subjects text[], p_recipients text[],
      p_ended uuid[], p_numbers integer[], p_results jsonb
    ) returns table (id uuid, verdict text, reason text, number integer) language plpgsql
    -- Plans are kept, and made when next to nothing is on the wire: rows are looked up all the same.
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
    as $$
    #variable_conflict use_column
    declare
      campaign_type text;
      obstacle text;
      held uuid[];
      ended integer;
    begin
      update campaign_wire w set ended_at = now(), result = told.result
      from rows from (unnest(p_ended), unnest(p_numbers), jsonb_array_elements(p_results)) as told (id, number, result)
      where w.email_id = told.id and w.number = told.number;
      get diagnostics ended = row_count;
      if ended < cardinality(p_ended) then
        return query
          select told.id, 'late', null::text, told.number from unnest(p_ended, p_numbers) as told (id, number)
          where not exists (select 1 from campaign_wire w where w.email_id = told.id and w.number = told.number);
      end if;
      if p_ids = '{}' then return; end if;
      -- Whoever pauses or cancels has this lock alone; what comes after it sees what was decided.
      perform pg_advisory_xact_lock_shared(campaign_lock(p_campaign_id));
      select c.type, campaign_obstacle(c.id), array(
          select b.id from unnest(p_batches, p_tokens) as holder (batch_id, token)
          join delivery_batches b on b.id = holder.batch_id and b.lease_token = holder.token and b.lease_until > now())
        into campaign_type, obstacle, held
        from campaigns c where c.id = p_campaign_id and c.status = 'SENDING' and not c.paused;
      if not found then
        return query select asked.id, 'stopped', null::text, 0 from unnest(p_ids) as asked (id);
        return;
      end if;
      if obstacle is not null then
        return query select asked.id, 'held', obstacle, 0 from unnest(p_ids) as asked (id);
        return;
      end if;
      return query
        -- Each row by its own id (the inner limits see to that): the planner would rather read the whole batch.
        with asked as materialized (
          select e.id, e.contact_id, e.batch_id, e.attempts + 1 as number, ask.subject, ask.recipient, case
              when k.id is null then 'contact deleted'
              when campaign_type <> 'TRANSACTIONAL' and not k.subscribed then 'unsubscribed'
              when coalesce((select s.reason = 'HARD_BOUNCE' from suppressions s
                where s.project_id = e.project_id and s.address_hash = address_hash(e.project_id, k.email) limit 1), false)
                then 'suppressed'
            end as skip
          from unnest(p_ids, p_subjects, p_recipients) as ask (id, subject, recipient)
          cross join lateral (select * from emails where emails.id = ask.id limit 1) e
          left join lateral (select * from contacts where contacts.id = e.contact_id limit 1) k on true
          where e.campaign_id = p_campaign_id and e.batch_id = any (held) and e.status = 'PENDING' and (k.id is null or k.email = ask.recipient)
        ),
        begun as (
          insert into campaign_wire (email_id, contact_id, campaign_id, batch_id, number, recipient, subject)
          select asked.id, asked.contact_id, p_campaign_id, asked.batch_id, asked.number, asked.recipient, asked.subject
          from asked where asked.skip is null
          on conflict do nothing
          returning email_id, number
        )
        select begun.email_id, 'go', null::text, begun.number from begun
        union all
        select asked.id, 'skip', asked.skip, 0 from asked where asked.skip is not null;
    end $$;
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop function turn_campaign_mails(uuid, uuid[], uuid[], uuid[], text[], text[], uuid[], integer[], jsonb);
    ${turnCampaignMails}
    alter table campaign_wire drop column contact_id;
    ${noteMails('')}
    ${noteEvents('')}
    create function queue_event() returns trigger language plpgsql as $$
    begin
      if exists (select 1 from workflows where project_id = new.project_id and event_name = new.name)
        or exists (select 1 from executions
          where project_id = new.project_id and contact_id = new.contact_id and awaits = new.name)
      then
        insert into event_queue (project_id, event_id, event_created_at)
        values (new.project_id, new.id, new.created_at);
      end if;
      return null;
    end $$;
    create trigger events_queue after insert on events for each row execute function queue_event();
  `);
}

/** As 018 has it, and \`more\`. */
const noteEvents = (more: string): string => `
    create or replace function note_events() returns trigger language plpgsql as $$
    begin
      insert into event_notes (project_id, name, contact_id, at, shown)
      select project_id, name, contact_id, created_at, activity_type(name, data) <> 'hidden' from added;
      insert into contact_changes (project_id, contact_id, looks)
      select e.project_id, e.contact_id, array['event.' || e.name] from added e
      where exists (select 1 from tracked_looks l where l.project_id = e.project_id and l.look = 'event.' || e.name);${more}
      return null;
    end $$;`;
