-- Writes a consent record for every change of a contact's subscription or snooze, whatever made it. Writers name themselves
-- in the setting everpost.consent (write_contact does); a change without it is the service's own.
create or replace function record_subscription_consent() returns trigger language plpgsql as $$
declare
  context jsonb := coalesce(nullif(current_setting('everpost.consent', true), '')::jsonb, '{"method": "SYSTEM"}');
begin
  -- Of a statement that changes several contacts.
  if context -> 'byContact' is not null then context := coalesce(context -> 'byContact' -> new.id::text, '{"method": "SYSTEM"}'); end if;
  if new.subscribed <> old.subscribed then
    perform write_consent(new.project_id, new.id, new.email, null,
      case when not new.subscribed then 'WITHDRAWN' when context -> 'confirmed' = 'true' then 'CONFIRMED' else 'GRANTED' end,
      context);
  end if;
  if new.snoozed_until is distinct from old.snoozed_until then
    perform write_consent(new.project_id, new.id, new.email, null, 'SNOOZED', context);
  end if;
  return null;
end $$;

create or replace trigger contacts_record_consent after update on contacts for each row
  when (old.subscribed <> new.subscribed or old.snoozed_until is distinct from new.snoozed_until)
  execute function record_subscription_consent();
