-- The two writes of a campaign's email, for many at once: stores the results of those that have ended, then begins others.
-- Returns only those that need something else: a verdict where one may not begin (gone, lost, stopped, blocked, skip,
-- changed; see write_outgoing_mails), and late for an ended one that has left this table. A recipient begins only if the
-- sender's lease is valid, it leases the recipient, the campaign is sending, nothing blocks it, and the contact may still
-- get it (email_refusal). It begins once: a row in flight never waits again.
-- A function, because its statements must see what was committed while it waited for a lock: once the API has answered
-- that a campaign is paused, no email of it begins.
create or replace function write_recipients(
  p_sender_id uuid, p_ids uuid[], p_recipients text[], p_subjects text[], p_domains text[], p_relays text[],
  p_campaigns uuid[], p_ended uuid[], p_results text[]
) returns table (id uuid, verdict text, reason text) language plpgsql
-- Planning anew for every size of the arrays takes longer than the statements.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  stored integer;
  allowed integer;
  campaign record;
begin
  if p_ended <> '{}' then
    update campaign_recipients r
    set state = 3, ended_at = now(), result = p_results[array_position(p_ended, r.email_id)]
    -- Recovery may have taken the attempt for lost a moment ago.
    where r.email_id = any (p_ended) and (r.state = 2 or r.state = 3 and r.result::jsonb ->> 'outcome' = 'unknown');
    get diagnostics stored = row_count;
    if stored < cardinality(p_ended) then
      return query
        select ended.id, 'late', null::text from unnest(p_ended) as ended (id)
        where not exists (select 1 from campaign_recipients r where r.email_id = ended.id);
    end if;
  end if;
  if p_ids = '{}' then return; end if;
  -- A pause or cancel takes this lock exclusively; what comes after it sees its decision.
  perform pg_advisory_xact_lock_shared(campaign_lock(c.id)) from unnest(p_campaigns) as c (id) order by c.id;
  if not exists (select 1 from senders s where s.id = p_sender_id and s.lease_until > clock_timestamp()) then
    return query select asked.id, 'lost', null::text from unnest(p_ids) as asked (id);
    return;
  end if;
  -- Mostly all of them may begin, which is asked once for all. Any doubt is left to the verdicts below.
  if cardinality(p_campaigns) = 1 and p_domains[1] = all (p_domains) then
    select c.project_id, c.type into campaign from campaigns c
    where c.id = p_campaigns[1] and c.status = 'SENDING' and not c.paused and c.topic_id is null;
    if found and sending_block_reason(campaign.project_id, p_domains[1], 'CAMPAIGN') is null then
      select count(*) into allowed from unnest(p_ids, p_recipients) as ask (id, recipient)
      cross join lateral (select r.contact_id from campaign_recipients r
        where r.email_id = ask.id and r.campaign_id = p_campaigns[1] and r.state in (1, 2) and r.sender_id = p_sender_id
        limit 1) r
      cross join lateral (select 1 from contacts k where k.id = r.contact_id and k.email = ask.recipient
        and (campaign.type = 'TRANSACTIONAL' or k.subscribed and coalesce(k.snoozed_until <= now(), true)) limit 1) k
      where not exists (select 1 from suppressions s where s.project_id = campaign.project_id
        and s.address_hash = address_hash(campaign.project_id, ask.recipient));
      if allowed = cardinality(p_ids) then
        update campaign_recipients r set state = 2, started_at = now(),
          recipient = p_recipients[array_position(p_ids, r.email_id)],
          subject = p_subjects[array_position(p_ids, r.email_id)], relay = p_relays[array_position(p_ids, r.email_id)]
        where r.email_id = any (p_ids) and r.state in (1, 2) and r.sender_id = p_sender_id;
        get diagnostics stored = row_count;
        -- Fewer: a row was moved meanwhile. Those that have begun get their verdict once more.
        if stored = allowed then return; end if;
      end if;
    end if;
  end if;
  return query
    -- The inner limits make the planner look each row up by its id.
    with asked as materialized (
      select ask.id, ask.domain, ask.recipient, ask.subject, ask.relay, r.project_id, r.campaign_id,
        coalesce(r.state in (1, 2) and r.sender_id = p_sender_id, false) as is_leased, k.id as contact_id, k.subscribed,
        k.snoozed_until, k.created_at as contact_since, k.email as contact_email,
        is_suppressed(r.project_id, ask.recipient) as is_suppressed
      from unnest(p_ids, p_recipients, p_subjects, p_domains, p_relays) as ask (id, recipient, subject, domain, relay)
      left join lateral (select * from campaign_recipients where campaign_recipients.email_id = ask.id limit 1) r on true
      left join lateral (select * from contacts where contacts.id = r.contact_id limit 1) k on true
    ),
    -- Asked once for all emails of a campaign, not for each.
    rule as materialized (
      select origin.campaign_id, origin.domain, sending_block_reason(origin.project_id, origin.domain, 'CAMPAIGN') as block_reason,
        c.type as campaign_type, c.topic_id,
        (select t.archived from topics t where t.id = c.topic_id and t.project_id = origin.project_id) as topic_archived
      from (select distinct project_id, campaign_id, domain from asked where is_leased) origin
      left join lateral (select c.type, c.topic_id from campaigns c
        where c.id = origin.campaign_id and c.status = 'SENDING' and not c.paused limit 1) c on true
    ),
    refusable as materialized (
      select asked.*, rule.block_reason, rule.campaign_type,
        case when asked.contact_id is null then 'contact deleted' else email_refusal(
          rule.campaign_type <> 'TRANSACTIONAL', asked.is_suppressed, asked.subscribed, asked.snoozed_until, rule.topic_id,
          rule.topic_archived, case when rule.topic_id is not null then
            topic_state(asked.project_id, rule.topic_id, asked.contact_id, asked.contact_since) end) end as refusal
      from asked left join rule on rule.campaign_id = asked.campaign_id and rule.domain = asked.domain
    ),
    decided as materialized (
      select refusable.*,
        case
          when not is_leased then 'gone'
          when campaign_type is null then 'stopped'
          when block_reason is not null then 'blocked'
          when refusal is not null then 'skip'
          -- The address has changed since the email was composed.
          when contact_email <> recipient then 'changed'
          else 'go'
        end as verdict
      from refusable
    ),
    begun as (
      update campaign_recipients r set state = 2, started_at = now(), (recipient, subject, relay) = (
        select d.recipient, d.subject, d.relay from decided d where d.id = r.email_id)
      where r.email_id = any (array(select d.id from decided d where d.verdict = 'go'))
    )
    select decided.id, decided.verdict, case
        when decided.verdict = 'blocked' then decided.block_reason
        when decided.verdict = 'skip' then decided.refusal
      end
    from decided where decided.verdict <> 'go';
end $$;
