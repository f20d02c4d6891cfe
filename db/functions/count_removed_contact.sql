create or replace function count_removed_contact() returns trigger language plpgsql as $$
begin
  insert into contact_count_deltas (project_id, contacts, subscribed, lost)
  values (old.project_id, -1, -old.subscribed::integer,
    (select jsonb_agg(key) from jsonb_object_keys(old.data) as key));
  return null;
end $$;

create or replace trigger contacts_count_removed after delete on contacts
  for each row execute function count_removed_contact();
