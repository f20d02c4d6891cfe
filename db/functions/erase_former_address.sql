-- A changed address: consent records keep the hash of the former one, and the new mailbox has not confirmed anything yet.
create or replace function erase_former_address() returns trigger language plpgsql as $$
declare
  topic record;
begin
  update consents c set email = null where c.project_id = new.project_id and c.contact_id = new.id and c.email = old.email;
  -- What waits for the former mailbox is asked of the new one.
  for topic in
    select s.topic_ids[1] as id, s.id as submission_id, s.context, s.bulk from form_submissions s
    where s.project_id = new.project_id and s.contact_id = new.id and s.form_id is null and s.status in ('RECEIVED', 'PENDING')
  loop
    update form_submissions s set status = 'EXPIRED', settled_at = now(), due_at = now() + interval '7 days'
    where s.project_id = new.project_id and s.id = topic.submission_id;
    insert into form_submissions (id, project_id, topic_ids, address_hash, email, context, bulk, contact_id, due_at)
    values (uuidv7(), new.project_id, array[topic.id], address_hash(new.project_id, new.email), new.email, topic.context,
      topic.bulk, new.id, now());
  end loop;
  for topic in
    select t.id, ct.default_state from contact_topics ct join topics t on t.id = ct.topic_id and t.project_id = new.project_id
    where ct.project_id = new.project_id and ct.contact_id = new.id and ct.state = 'SUBSCRIBED' and t.double_opt_in
    order by t.position, t.id
  loop
    perform write_topic_choice(new.project_id, new.id, new.email, topic.id, 'PENDING', topic.default_state, '{"method": "SYSTEM"}');
    update contact_topics set before_pending = 'UNSUBSCRIBED'
    where project_id = new.project_id and contact_id = new.id and topic_id = topic.id;
  end loop;
  return null;
end $$;

create or replace trigger contacts_erase_former_address after update of email on contacts for each row
  when (new.email <> old.email) execute function erase_former_address();
