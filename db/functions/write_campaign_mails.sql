-- One batch write of a campaign's sender: stores the results of mails that have ended, then begins others. A mail is
-- begun only where the lease is valid, the campaign is sending, nothing blocks it, and the recipient still wants it.
-- A function, because its statements must see what was committed while it waited for the lock: once the API has
-- answered that a campaign is paused, no mail of it begins.
create or replace function write_campaign_mails(
  p_campaign_id uuid, p_batches uuid[], p_tokens uuid[], p_ids uuid[], p_subjects text[], p_recipients text[],
  p_ended uuid[], p_numbers integer[], p_results jsonb
) returns table (id uuid, verdict text, reason text, number integer) language plpgsql
-- Plans are kept, and made while the table is almost empty: index lookups stay right when it is not.
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  campaign_type text;
  block_reason text;
  leased uuid[];
  ended integer;
begin
  update campaign_mails_in_flight f set ended_at = now(), result = reported.result
  from rows from (unnest(p_ended), unnest(p_numbers), jsonb_array_elements(p_results)) as reported (id, number, result)
  where f.email_id = reported.id and f.number = reported.number;
  get diagnostics ended = row_count;
  if ended < cardinality(p_ended) then
    return query
      select reported.id, 'late', null::text, reported.number from unnest(p_ended, p_numbers) as reported (id, number)
      where not exists (
        select 1 from campaign_mails_in_flight f where f.email_id = reported.id and f.number = reported.number);
  end if;
  if p_ids = '{}' then return; end if;
  -- A pause or cancel takes this lock exclusively; what comes after it sees its decision.
  perform pg_advisory_xact_lock_shared(campaign_lock(p_campaign_id));
  select c.type, campaign_block_reason(c.id), array(
      select b.id from unnest(p_batches, p_tokens) as lease (batch_id, token)
      join delivery_batches b on b.id = lease.batch_id and b.lease_token = lease.token and b.lease_until > now())
    into campaign_type, block_reason, leased
    from campaigns c where c.id = p_campaign_id and c.status = 'SENDING' and not c.paused;
  if not found then
    return query select asked.id, 'stopped', null::text, 0 from unnest(p_ids) as asked (id);
    return;
  end if;
  if block_reason is not null then
    return query select asked.id, 'blocked', block_reason, 0 from unnest(p_ids) as asked (id);
    return;
  end if;
  return query
    -- The inner limits make the planner look each row up by its id; it would rather read the whole batch.
    with asked as materialized (
      select e.id, e.contact_id, e.batch_id, e.attempts + 1 as number, ask.subject, ask.recipient, case
          when k.id is null then 'contact deleted'
          when campaign_type <> 'TRANSACTIONAL' and not k.subscribed then 'unsubscribed'
          when coalesce((select s.reason <> 'COMPLAINT' from suppressions s
            where s.project_id = e.project_id and s.address_hash = address_hash(e.project_id, k.email) limit 1), false)
            then 'suppressed'
        end as skip
      from unnest(p_ids, p_subjects, p_recipients) as ask (id, subject, recipient)
      cross join lateral (select * from emails where emails.id = ask.id limit 1) e
      left join lateral (select * from contacts where contacts.id = e.contact_id limit 1) k on true
      -- A recipient whose address has changed since the mail was composed is left out: it stays PENDING in its batch.
      where e.campaign_id = p_campaign_id and e.batch_id = any (leased) and e.status = 'PENDING'
        and (k.id is null or k.email = ask.recipient)
    ),
    begun as (
      insert into campaign_mails_in_flight (email_id, contact_id, campaign_id, batch_id, number, recipient, subject)
      select asked.id, asked.contact_id, p_campaign_id, asked.batch_id, asked.number, asked.recipient, asked.subject
      from asked where asked.skip is null
      on conflict do nothing
      returning email_id, number
    )
    select begun.email_id, 'go', null::text, begun.number from begun
    union all
    select asked.id, 'skip', asked.skip, 0 from asked where asked.skip is not null;
end $$;
