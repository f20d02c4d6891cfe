-- Ends a submission that was not confirmed in time. The choice of a contact is again what it was before. Its address is
-- erased seven days later.
create or replace function expire_submission(p_project_id uuid, p_id uuid) returns void language plpgsql as $$
declare
  submission record;
begin
  update form_submissions s set status = 'EXPIRED', settled_at = now(), due_at = now() + interval '7 days'
  where s.project_id = p_project_id and s.id = p_id and s.status in ('RECEIVED', 'PENDING')
  returning s.form_id, s.contact_id, s.topic_ids, s.email into submission;
  if not found then return; end if;
  if submission.form_id is not null then
    perform queue_form_webhook(p_project_id, p_id, 'expired', false);
  else
    perform end_pending_choices(p_project_id, submission.contact_id, submission.email, submission.topic_ids, 'EXPIRED',
      '{"method": "SYSTEM"}');
  end if;
end $$;
