-- Notifies members that a domain has lost its verification. The service that checks domains mails them itself.
create or replace function notify_domain() returns trigger language plpgsql as $$
begin
  perform notify_members(new.project_id, 'domain.lost', jsonb_build_object('domainId', new.id, 'domain', new.domain), 'none');
  return null;
end $$;

create or replace trigger domains_notify after update on domains for each row
  when (old.status = 'VERIFIED' and new.status <> 'VERIFIED') execute function notify_domain();
