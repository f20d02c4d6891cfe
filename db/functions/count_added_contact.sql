create or replace function count_added_contact() returns trigger language plpgsql as $$
begin
  insert into contact_count_deltas (project_id, contacts, subscribed, gained)
  values (new.project_id, 1, new.subscribed::integer,
    (select jsonb_object_agg(key, contact_value_type(value)) from jsonb_each(new.data)));
  return null;
end $$;

create or replace trigger contacts_count_added after insert on contacts
  for each row execute function count_added_contact();
