-- Of a deleted contact, keeps what it had left and its consent records, both with the hash of the address only.
create or replace function keep_withdrawals() returns trigger language plpgsql as $$
begin
  with left_topics as (
    delete from contact_topics t using gone where t.contact_id = gone.id and t.project_id = gone.project_id
    returning t.project_id, gone.email, t.topic_id, t.withdrawn_at, t.state
  )
  insert into withdrawals as w (project_id, address_hash, topic_id, at)
  select project_id, address_hash(project_id, email), topic_id, withdrawn_at from left_topics
  where state <> 'SUBSCRIBED' and withdrawn_at is not null
  on conflict (project_id, address_hash, topic_id) do update set at = excluded.at;
  insert into withdrawals as w (project_id, address_hash, topic_id, at)
  select gone.project_id, address_hash(gone.project_id, gone.email), null, latest.at
  from gone cross join lateral (
    select max(c.at) as at from consents c where c.project_id = gone.project_id and c.contact_id = gone.id
      and c.topic_id is null and c.action = 'WITHDRAWN') latest
  where not gone.subscribed and latest.at is not null
  on conflict (project_id, address_hash, topic_id) do update set at = excluded.at;
  -- Who had left and subscribed again has left nothing.
  delete from withdrawals w using gone where w.project_id = gone.project_id and w.topic_id is null and gone.subscribed
    and w.address_hash = address_hash(gone.project_id, gone.email);
  update consents c set email = null, ip = null, user_agent = null, evidence = c.evidence - 'ip', erased_at = now()
  from gone where c.project_id = gone.project_id and c.contact_id = gone.id;
  return null;
end $$;

create or replace trigger contacts_keep_withdrawals after delete on contacts
  referencing old table as gone for each statement execute function keep_withdrawals();
