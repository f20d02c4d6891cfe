-- Why an address is on the project's suppression list, or null. The only lookup in it by address. `limit 1` makes it one
-- index lookup.
create or replace function address_suppression(p_project_id uuid, p_email text) returns text
language sql stable parallel safe as $$
  select s.reason from suppressions s
  where s.project_id = p_project_id and s.address_hash = address_hash(p_project_id, p_email)
  limit 1
$$;
