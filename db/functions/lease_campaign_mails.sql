-- For processes of the previous version.
create or replace function lease_campaign_mails(
  p_sender_id uuid, p_campaign_id uuid, p_limit integer, p_after_due timestamptz, p_after_id uuid
) returns table (id uuid, due_at timestamptz, recipient text) language plpgsql as $$
begin
  return query
    select r.id, r.due_at, r.email
    from lease_campaign_recipients(p_sender_id, p_campaign_id, p_limit, p_after_due, p_after_id) r;
end $$;
