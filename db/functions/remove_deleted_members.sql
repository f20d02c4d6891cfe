create or replace function remove_deleted_members() returns trigger language plpgsql as $$
begin
  with removed as (
    delete from segment_members m using gone where m.contact_id = gone.id returning m.segment_id
  )
  insert into segment_recounts select distinct segment_id from removed;
  delete from import_contacts i using gone where i.contact_id = gone.id;
  return null;
end $$;

create or replace trigger contacts_remove_members after delete on contacts
  referencing old table as gone for each statement execute function remove_deleted_members();
