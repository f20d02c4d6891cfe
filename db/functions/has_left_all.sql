-- Whether a deleted contact with this address had left all mail.
create or replace function has_left_all(p_project_id uuid, p_email text) returns boolean
language sql stable parallel safe as $$
  select exists (select 1 from withdrawals w where w.project_id = p_project_id
    and w.address_hash = address_hash(p_project_id, p_email) and w.topic_id is null)
$$;
