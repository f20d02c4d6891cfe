-- Of a deleted contact the suppression list keeps only the hash of the address; the note may contain it. A reset, which
-- deletes all contacts, keeps the list readable.
create or replace function erase_suppressed_address() returns trigger language plpgsql as $$
declare
  v_keeps boolean := coalesce(current_setting('everpost.keep_suppressed_addresses', true) = 'on', false);
begin
  update suppressions s set contact_id = null,
    email = case when v_keeps then s.email end,
    note = case when v_keeps then s.note end
  from gone
  where s.project_id = gone.project_id
    and (s.contact_id = gone.id or s.address_hash = address_hash(gone.project_id, gone.email));
  return null;
end $$;

create or replace trigger contacts_erase_suppressed after delete on contacts
  referencing old table as gone for each statement execute function erase_suppressed_address();
