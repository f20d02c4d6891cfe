-- Whether mail to an address must not be sent. A complaint ends the subscription only, the other reasons end all mail.
create or replace function is_suppressed(p_project_id uuid, p_email text) returns boolean
language sql stable parallel safe as $$
  select coalesce(address_suppression(p_project_id, p_email) <> 'COMPLAINT', false)
$$;
