create or replace function count_added_event_names() returns trigger language plpgsql as $$
begin
  insert into event_name_counts as c (project_id, names)
  select project_id, count(*) from added where not is_reserved_event(name) group by project_id
  on conflict (project_id) do update set names = c.names + excluded.names;
  return null;
end $$;

create or replace trigger event_names_added after insert on event_names
  referencing new table as added for each statement execute function count_added_event_names();
