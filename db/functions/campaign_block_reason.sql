-- Why mail of a campaign may not be sent now; null: it may.
create or replace function campaign_block_reason(p_campaign_id uuid) returns text language plpgsql stable as $$
begin
  return (select sending_block_reason(c.project_id, coalesce(c.from_domain, split_part(c.from_email, '@', 2)), 'CAMPAIGN')
    from campaigns c where c.id = p_campaign_id);
end $$;
