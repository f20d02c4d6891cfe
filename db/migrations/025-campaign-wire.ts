import type { Knex } from 'knex';
import { beginCampaignMails, IS_CURRENT } from './024-current-address.ts';

export const turnCampaignMails = `
    create or replace function turn_campaign_mails(
      p_campaign_id uuid, p_batches uuid[], p_tokens uuid[], p_ids uuid[], p_subjects text[], p_recipients text[],
      p_ended uuid[], p_numbers integer[], p_results jsonb[]
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
      from unnest(p_ended, p_numbers, p_results) as told (id, number, result)
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
          select e.id, e.batch_id, e.attempts + 1 as number, ask.subject, ask.recipient, case
              when k.id is null then 'contact deleted'
              when campaign_type <> 'TRANSACTIONAL' and not k.subscribed then 'unsubscribed'
              when coalesce((select s.reason = 'HARD_BOUNCE' from suppressions s
                where s.project_id = e.project_id and s.address_hash = address_hash(e.project_id, k.email) limit 1), false)
                then 'suppressed'
            end as skip
          from unnest(p_ids, p_subjects, p_recipients) as ask (id, subject, recipient)
          cross join lateral (select * from emails where emails.id = ask.id limit 1) e
          left join lateral (select * from contacts where contacts.id = e.contact_id limit 1) k on true
          where e.batch_id = any (held) and e.status = 'PENDING' ${IS_CURRENT}
        ),
        begun as (
          insert into campaign_wire (email_id, campaign_id, batch_id, number, recipient, subject)
          select asked.id, p_campaign_id, asked.batch_id, asked.number, asked.recipient, asked.subject
          from asked where asked.skip is null
          on conflict do nothing
          returning email_id, number
        )
        select begun.email_id, 'go', null::text, begun.number from begun
        union all
        select asked.id, 'skip', asked.skip, 0 from asked where asked.skip is not null;
    end $$;`;

// See docs/decisions/076-campaign-wire.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Recipients of campaigns whose mail is on the wire, and what has come of it, until that is booked in the ledger. One
    -- index, and room for the result beside each row: it is written twice for every mail.
    create table campaign_wire (
      email_id uuid primary key,
      campaign_id uuid not null,
      batch_id uuid not null,
      -- Of the attempt.
      number integer not null,
      recipient text,
      subject text,
      started_at timestamptz not null default now(),
      ended_at timestamptz,
      -- What becomes of the ledger row (\`Settlement\`).
      result jsonb,
      check ((ended_at is null) = (result is null))
    ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

    -- Those that a worker has on the wire at this moment.
    insert into campaign_wire (email_id, campaign_id, batch_id, number, recipient, subject, started_at)
    select id, campaign_id, batch_id, attempts, to_email, rendered_subject, updated_at
    from emails where campaign_id is not null and status = 'SENDING';
    update emails set status = 'PENDING', attempts = attempts - 1, to_email = null, rendered_subject = null
    where campaign_id is not null and status = 'SENDING';

    drop function begin_campaign_mails(uuid, uuid, uuid, uuid[], text[], text[]);
    ${turnCampaignMails}
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop function turn_campaign_mails(uuid, uuid[], uuid[], uuid[], text[], text[], uuid[], integer[], jsonb[]);
    ${beginCampaignMails(IS_CURRENT)}
    -- What was known and not booked yet is found by whoever has the batch next, as an unknown outcome.
    update emails e set status = 'SENDING', attempts = w.number, to_email = w.recipient, rendered_subject = w.subject
    from campaign_wire w where e.id = w.email_id and e.status = 'PENDING';
    drop table campaign_wire;
  `);
}
