create or replace function count_removed_event_names() returns trigger language plpgsql as $$
begin
  update event_name_counts c set names = c.names - r.names
  from (
    select project_id, count(*) as names from removed where not is_reserved_event(name) group by project_id
  ) r
  where r.project_id = c.project_id;
  return null;
end $$;

create or replace trigger event_names_removed after delete on event_names
  referencing old table as removed for each statement execute function count_removed_event_names();
