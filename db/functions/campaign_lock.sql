-- The advisory lock of a campaign: shared by senders that begin its mails, exclusive for a pause or cancel.
create or replace function campaign_lock(p_campaign_id uuid) returns bigint language sql immutable parallel safe as $$
  select hashtextextended('campaign/' || p_campaign_id::text, 0)
$$;
