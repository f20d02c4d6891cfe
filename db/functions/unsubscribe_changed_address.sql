-- A contact that moves to a suppressed address is unsubscribed, with its event.
create or replace function unsubscribe_changed_address() returns trigger language plpgsql as $$
begin
  if address_suppression(new.project_id, new.email) is not null then
    new.subscribed := false;
    perform set_config('everpost.consent', '{"method": "SYSTEM"}', true);
    perform record_event(uuidv7(), new.project_id, new.id, 'contact.unsubscribed', '{"reason": "suppressed"}', null, 0);
  end if;
  return new;
end $$;

create or replace trigger contacts_unsubscribe_changed_address before update of email on contacts
  for each row when (new.email <> old.email and new.subscribed) execute function unsubscribe_changed_address();
