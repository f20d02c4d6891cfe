-- Ends a submission that was not confirmed in time. The choice of a contact is again what it was before. Its address is
-- erased seven days later.
create or replace function expire_submission(p_project_id uuid, p_id uuid) returns void language plpgsql as $$
declare
  submission record;
  choice record;
begin
  update form_submissions s set status = 'EXPIRED', settled_at = now(), due_at = now() + interval '7 days'
  where s.project_id = p_project_id and s.id = p_id and s.status in ('RECEIVED', 'PENDING')
  returning s.form_id, s.contact_id, s.topic_ids, s.email, s.context into submission;
  if not found then return; end if;
  if submission.form_id is not null then
    perform queue_form_webhook(p_project_id, p_id, 'expired', false);
    return;
  end if;
  perform from contacts c where c.project_id = p_project_id and c.id = submission.contact_id for update;
  for choice in
    select ct.topic_id, ct.before_pending from contact_topics ct
    where ct.project_id = p_project_id and ct.contact_id = submission.contact_id and ct.state = 'PENDING'
      and ct.topic_id = any (submission.topic_ids)
  loop
    if choice.before_pending is null then
      delete from contact_topics ct where ct.contact_id = submission.contact_id and ct.topic_id = choice.topic_id
        and ct.project_id = p_project_id;
      perform write_consent(p_project_id, submission.contact_id, submission.email, choice.topic_id, 'EXPIRED',
        '{"method": "SYSTEM"}');
    else
      update contact_topics ct set state = choice.before_pending, since = now(), before_pending = null,
        consent_id = write_consent(p_project_id, submission.contact_id, submission.email, choice.topic_id, 'EXPIRED',
          '{"method": "SYSTEM"}')
      where ct.contact_id = submission.contact_id and ct.topic_id = choice.topic_id and ct.project_id = p_project_id;
    end if;
    insert into contact_changes (project_id, contact_id, dependencies)
    select p_project_id, submission.contact_id, array['topic.' || choice.topic_id]
    where exists (select from segment_dependencies d
      where d.project_id = p_project_id and d.dependency = 'topic.' || choice.topic_id);
  end loop;
end $$;
