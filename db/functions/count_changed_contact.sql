create or replace function count_changed_contact() returns trigger language plpgsql as $$
begin
  insert into contact_count_deltas (project_id, contacts, subscribed, gained, lost)
  values (new.project_id, 0, new.subscribed::integer - old.subscribed::integer,
    (select jsonb_object_agg(key, contact_value_type(value)) from jsonb_each(new.data) where not old.data ? key),
    (select jsonb_agg(key) from jsonb_object_keys(old.data) as key where not new.data ? key));
  return null;
end $$;

-- Two objects have the same keys when neither adds anything to the other; that is cheaper than listing the keys.
create or replace trigger contacts_count_changed after update on contacts
  for each row
  when (old.subscribed <> new.subscribed or old.data || new.data <> new.data or new.data || old.data <> old.data)
  execute function count_changed_contact();
