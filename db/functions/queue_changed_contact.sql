create or replace function queue_changed_contact() returns trigger language plpgsql as $$
declare
  changed text[];
begin
  if not exists (select 1 from segment_dependencies where project_id = new.project_id) then return null; end if;
  changed := array(
    select distinct d.dependency from segment_dependencies d
    where d.project_id = new.project_id and case d.dependency
      when 'email' then new.email <> old.email
      when 'subscribed' then new.subscribed <> old.subscribed
      when 'createdAt' then new.created_at <> old.created_at
      when 'updatedAt' then new.updated_at <> old.updated_at
      else d.dependency like 'data.%'
        and (new.data -> substr(d.dependency, 6)) is distinct from (old.data -> substr(d.dependency, 6))
    end);
  if cardinality(changed) > 0 then
    insert into contact_changes (project_id, contact_id, dependencies) values (new.project_id, new.id, changed);
  end if;
  return null;
end $$;

create or replace trigger contacts_queue_changed after update on contacts
  for each row execute function queue_changed_contact();
