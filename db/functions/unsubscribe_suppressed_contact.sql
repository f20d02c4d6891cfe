-- A new contact whose address is suppressed starts unsubscribed, however it is created.
create or replace function unsubscribe_suppressed_contact() returns trigger language plpgsql as $$
begin
  if address_suppression(new.project_id, new.email) is not null then new.subscribed := false; end if;
  return new;
end $$;

create or replace trigger contacts_unsubscribe_suppressed before insert on contacts
  for each row when (new.subscribed) execute function unsubscribe_suppressed_contact();
