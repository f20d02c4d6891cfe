-- Changes the project's version of its verified domains in the transaction of the change. The project's row is locked
-- after the domain's, so of two concurrent changes the second waits, and no two sets ever share a version.
create or replace function renew_senders_version() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.status = 'VERIFIED' then
    update projects set senders_version = gen_random_uuid() where id = old.project_id;
  end if;
  if tg_op <> 'DELETE' and new.status = 'VERIFIED' then
    update projects set senders_version = gen_random_uuid() where id = new.project_id;
  end if;
  return null;
end $$;

create or replace trigger domains_sender_added after insert on domains
  for each row when (new.status = 'VERIFIED') execute function renew_senders_version();
create or replace trigger domains_sender_changed after update on domains
  for each row when ((old.status, old.domain, old.project_id) is distinct from (new.status, new.domain, new.project_id))
  execute function renew_senders_version();
create or replace trigger domains_sender_removed after delete on domains
  for each row when (old.status = 'VERIFIED') execute function renew_senders_version();
