-- Of a deleted contact, erases what its address has submitted. What waits for a confirmation ends.
create or replace function erase_submissions() returns trigger language plpgsql as $$
begin
  update form_submissions s set email = null, data = null, defaults = null, page_url = null, due_at = null,
    context = s.context - 'ip' - 'userAgent' - 'pageUrl' - 'evidence',
    status = case when s.status in ('RECEIVED', 'PENDING') then 'EXPIRED' else s.status end,
    settled_at = coalesce(s.settled_at, now())
  from gone where s.project_id = gone.project_id and s.address_hash = address_hash(gone.project_id, gone.email);
  return null;
end $$;

create or replace trigger contacts_erase_submissions after delete on contacts
  referencing old table as gone for each statement execute function erase_submissions();
