-- Leases waiting recipients of a campaign for a sender, in the order of the freeze, after the given one, and returns their
-- contacts, without an email where they are deleted. Returns nothing while the campaign is not sending, or to a sender whose
-- own lease has run out. A function, because its statements must see what was committed while it waited for the lock.
create or replace function lease_recipients(p_sender_id uuid, p_campaign_id uuid, p_limit integer, p_after uuid)
returns table (id uuid, contact_id uuid, email text, subscribed boolean, created_at timestamptz, data jsonb)
language plpgsql
set plan_cache_mode = force_generic_plan
-- The table is vacuumed while it is almost empty. A bitmap would read all waiting recipients for each lease.
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
begin
  perform pg_advisory_xact_lock(hashtextextended('lease/' || p_campaign_id::text, 0));
  if not exists (select 1 from senders s where s.id = p_sender_id and s.lease_until > clock_timestamp())
    or not exists (select 1 from campaigns c where c.id = p_campaign_id and c.status = 'SENDING' and not c.paused)
    then return; end if;
  return query
    with leased as (
      update campaign_recipients r set state = 1, sender_id = p_sender_id
      where r.email_id = any (array(
          select w.email_id from campaign_recipients w
          where w.campaign_id = p_campaign_id and w.email_id > p_after and w.state = 0 order by w.email_id limit p_limit))
        and r.state = 0
      returning r.email_id, r.contact_id
    )
    select leased.email_id, leased.contact_id, k.email, k.subscribed, k.created_at, k.data
    from leased left join lateral (select * from contacts where contacts.id = leased.contact_id limit 1) k on true
    order by leased.email_id;
end $$;
