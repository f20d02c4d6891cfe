-- Leaving all mail ends a snooze.
create or replace function end_snooze() returns trigger language plpgsql as $$
begin
  new.snoozed_until := null;
  return new;
end $$;

create or replace trigger contacts_end_snooze before update of subscribed on contacts for each row
  when (old.subscribed and not new.subscribed and new.snoozed_until is not null) execute function end_snooze();
