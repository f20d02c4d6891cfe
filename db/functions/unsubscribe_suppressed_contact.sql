-- A new contact whose address is suppressed starts unsubscribed, however it is created.
create or replace function unsubscribe_suppressed_contact() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from suppressions s
    where s.project_id = new.project_id and s.address_hash = address_hash(new.project_id, new.email)
  ) then new.subscribed := false; end if;
  return new;
end $$;

create or replace trigger contacts_unsubscribe_suppressed before insert on contacts
  for each row when (new.subscribed) execute function unsubscribe_suppressed_contact();
