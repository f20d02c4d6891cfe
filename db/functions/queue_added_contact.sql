-- By row, with one index lookup where nothing is tracked: every writer of contacts pays for it.
create or replace function queue_added_contact() returns trigger language plpgsql as $$
begin
  if exists (select 1 from segment_dependencies where project_id = new.project_id) then
    insert into contact_changes (project_id, contact_id) values (new.project_id, new.id);
  end if;
  return null;
end $$;

create or replace trigger contacts_queue_added after insert on contacts
  for each row execute function queue_added_contact();
