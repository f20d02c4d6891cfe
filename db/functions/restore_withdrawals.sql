-- A contact that is created again starts UNSUBSCRIBED where its address had left. write_contact does the same for all mail.
create or replace function restore_withdrawals() returns trigger language plpgsql as $$
declare
  v_hash bytea := address_hash(new.project_id, new.email);
begin
  if not exists (select 1 from withdrawals w where w.project_id = new.project_id and w.address_hash = v_hash) then return null; end if;
  insert into contact_topics (contact_id, topic_id, project_id, state, default_state, since, withdrawn_at)
  select new.id, t.id, new.project_id, 'UNSUBSCRIBED', topic_state(new.project_id, t.id, null, new.created_at), w.at, w.at
  from withdrawals w join topics t on t.id = w.topic_id and t.project_id = w.project_id
  where w.project_id = new.project_id and w.address_hash = v_hash on conflict do nothing;
  -- That of all mail stays as long as the contact has not subscribed.
  delete from withdrawals w where w.project_id = new.project_id and w.address_hash = v_hash
    and (w.topic_id is not null or new.subscribed);
  return null;
end $$;

create or replace trigger contacts_restore_withdrawals after insert on contacts
  for each row execute function restore_withdrawals();
