-- When a postponed email is due; null for other email. Its reason says why it waits.
create or replace function postponed_until(p_status text, p_reason text, p_due_at timestamptz)
returns timestamptz language sql immutable parallel safe as $$
  select case when p_status = 'PENDING' and p_reason = 'local time' then p_due_at end
$$;
