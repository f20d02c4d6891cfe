-- The two writes of every mail, for many mails at once: stores the results of mails that have ended, then begins others.
-- A mail begins only if the sender's lease is valid, the mail is still pending and leased by it, nothing blocks it, and
-- the recipient may still get it (email_refusal). The verdict says what the sender does: go; or gone, lost, stopped, blocked, skip,
-- suppressed, changed. Of ended mails only those are returned whose attempt is not in flight any more: late.
-- A function, because its statements must see what was committed while it waited for a lock: once the API has answered
-- that a campaign is paused, no mail of it begins.
create or replace function write_outgoing_mails(
  p_sender_id uuid, p_ids uuid[], p_recipients text[], p_subjects text[], p_domains text[], p_relays text[],
  p_campaigns uuid[], p_ended uuid[], p_numbers integer[], p_results jsonb
) returns table (id uuid, verdict text, reason text, number integer, unknown_outcomes integer) language plpgsql
-- Planning anew for every size of the arrays takes longer than the statements.
set plan_cache_mode = force_generic_plan
-- A table that was vacuumed while it was empty looks so small that the planner would read all of it for each array.
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  stored integer;
begin
  if p_ended <> '{}' then
    -- By an array and not a join: the planner takes this table for almost empty and would read all of it.
    update outgoing_mails o set ended_at = now(), result = p_results -> (array_position(p_ended, o.email_id) - 1)
    where o.email_id = any (p_ended) and o.number = p_numbers[array_position(p_ended, o.email_id)]
      -- Recovery may have taken the attempt for lost a moment ago.
      and (o.ended_at is null or o.result ->> 'outcome' = 'unknown');
    get diagnostics stored = row_count;
    if stored < cardinality(p_ended) then
      return query
        select ended.id, 'late', null::text, ended.number, 0 from unnest(p_ended, p_numbers) as ended (id, number)
        where not exists (select 1 from outgoing_mails o where o.email_id = ended.id and o.number = ended.number);
    end if;
  end if;
  if p_ids = '{}' then return; end if;
  -- A pause or cancel takes this lock exclusively; what comes after it sees its decision.
  perform pg_advisory_xact_lock_shared(campaign_lock(c.id)) from unnest(p_campaigns) as c (id) order by c.id;
  if not exists (select 1 from senders s where s.id = p_sender_id and s.lease_until > clock_timestamp()) then
    return query select asked.id, 'lost', null::text, 0, 0 from unnest(p_ids) as asked (id);
    return;
  end if;
  return query
    -- The inner limits make the planner look each row up by its id.
    with asked as materialized (
      select e.id, e.project_id, e.source_type, e.campaign_id, e.attempts + 1 as number, e.unknown_outcomes,
        e.status = 'PENDING' and o.email_id is not null as is_leased, k.id is not null as has_contact, k.subscribed,
        k.id as known_contact, k.snoozed_until, k.created_at as contact_since, e.needs_subscription,
        -- A test shows the topic of what it tests, and is not asked for it.
        case when not e.without_events then e.topic_id end as topic_id,
        k.email as contact_email, ask.domain, ask.recipient, ask.subject, ask.relay,
        is_suppressed(e.project_id, ask.recipient) as is_suppressed
      from unnest(p_ids, p_recipients, p_subjects, p_domains, p_relays) as ask (id, recipient, subject, domain, relay)
      cross join lateral (select * from emails where emails.id = ask.id limit 1) e
      -- It may have begun already: the answer to the first call was lost. A sender asks for no mail that it is sending.
      left join lateral (
        select o.email_id from outgoing_mails o
        where o.email_id = ask.id and o.sender_id = p_sender_id and o.ended_at is null limit 1) o on true
      -- Of other email, the contact with the recipient's address is asked, and only where the rule needs it.
      left join lateral (
        (select * from contacts where contacts.id = e.contact_id and e.campaign_id is not null limit 1)
        union all
        (select * from contacts where contacts.project_id = e.project_id and contacts.email = ask.recipient
           and e.campaign_id is null and (e.needs_subscription or e.topic_id is not null) limit 1)) k on true
    ),
    -- Asked once for all mails of a sender, not for each.
    rule as materialized (
      select origin.project_id, origin.domain, origin.source_type, origin.campaign_id, origin.topic_id as own_topic,
        sending_block_reason(origin.project_id, origin.domain, origin.source_type) as block_reason,
        c.type as campaign_type, c.send_until, coalesce(c.topic_id, origin.topic_id) as topic_id,
        (select t.archived from topics t
         where t.id = coalesce(c.topic_id, origin.topic_id) and t.project_id = origin.project_id) as topic_archived
      from (select distinct project_id, domain, source_type, campaign_id, topic_id from asked) origin
      left join lateral (select c.type, c.topic_id, c.send_until from campaigns c
        where c.id = origin.campaign_id and c.status = 'SENDING' and not c.paused limit 1) c on true
    ),
    refusable as materialized (
      select asked.*, rule.block_reason, rule.campaign_type, coalesce(email_refusal(
        coalesce(rule.campaign_type <> 'TRANSACTIONAL', asked.needs_subscription), asked.is_suppressed, asked.subscribed,
        asked.snoozed_until, rule.topic_id, rule.topic_archived, case when rule.topic_id is not null then
          topic_state(asked.project_id, rule.topic_id, asked.known_contact, asked.contact_since) end),
        case when rule.send_until <= clock_timestamp() then 'too late' end) as refusal
      from asked join rule on rule.project_id = asked.project_id and rule.domain = asked.domain
        and rule.source_type = asked.source_type and rule.campaign_id is not distinct from asked.campaign_id
        and rule.own_topic is not distinct from asked.topic_id
    ),
    decided as materialized (
      select asked.*,
        case
          when not asked.is_leased then 'gone'
          when asked.campaign_id is not null and asked.campaign_type is null then 'stopped'
          when asked.block_reason is not null then 'blocked'
          when asked.campaign_id is null and asked.refusal = 'suppressed' then 'suppressed'
          when asked.refusal is not null or asked.campaign_id is not null and not asked.has_contact then 'skip'
          -- The address has changed since the mail was composed.
          when asked.campaign_id is not null and asked.contact_email <> asked.recipient then 'changed'
          else 'go'
        end as verdict
      from refusable asked
    ),
    begun as (
      update outgoing_mails o set started_at = now(), (number, recipient, subject, relay) = (
        select d.number, d.recipient, d.subject, d.relay from decided d where d.id = o.email_id)
      where o.email_id = any (array(select d.id from decided d where d.verdict = 'go'))
    )
    select decided.id, decided.verdict, case
        when decided.verdict = 'blocked' then decided.block_reason
        when decided.verdict = 'skip' and decided.campaign_id is not null and not decided.has_contact then 'contact deleted'
        when decided.verdict in ('skip', 'suppressed') then decided.refusal
      end, decided.number, decided.unknown_outcomes
    from decided;
end $$;
