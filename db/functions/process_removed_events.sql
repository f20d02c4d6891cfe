-- Queues the contacts of removed events where a tracked segment depends on the event.
create or replace function process_removed_events() returns trigger language plpgsql as $$
begin
  insert into contact_changes (project_id, contact_id, dependencies)
  select distinct e.project_id, e.contact_id, array['event.' || e.name] from removed e
  where exists (
    select 1 from segment_dependencies d where d.project_id = e.project_id and d.dependency = 'event.' || e.name);
  return null;
end $$;

create or replace trigger events_removed after delete on events
  referencing old table as removed for each statement execute function process_removed_events();
