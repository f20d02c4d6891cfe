-- The six states that add up to a campaign's recipients.
create or replace function recipient_state(status text) returns text language sql immutable parallel safe as $$
  select case
    when status in ('PENDING', 'FAILED', 'SKIPPED', 'CANCELLED', 'UNKNOWN') then status
    else 'SENT'
  end
$$;
