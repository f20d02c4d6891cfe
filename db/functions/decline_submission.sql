-- "That was not me": ends a submission, and returns the state afterwards. No email of this form goes to the address for a
-- year. A choice of a contact is again what it was before.
create or replace function decline_submission(
  p_project_id uuid, p_id uuid, p_context jsonb, out status text, out contact_id uuid
) language plpgsql as $$
#variable_conflict use_column
declare
  submission record;
begin
  select s.status, s.contact_id, s.form_id, s.topic_ids, s.email into submission
  from form_submissions s where s.project_id = p_project_id and s.id = p_id for update;
  if not found then return; end if;
  status := submission.status;
  contact_id := submission.contact_id;
  if status not in ('PENDING', 'EXPIRED') then return; end if;
  if submission.form_id is null and status = 'PENDING' then
    perform end_pending_choices(p_project_id, submission.contact_id, submission.email, submission.topic_ids, 'DECLINED',
      p_context || '{"method": "PAGE"}');
  end if;
  status := 'DECLINED';
  update form_submissions s set status = 'DECLINED', settled_at = now(), due_at = now() + interval '7 days'
  where s.project_id = p_project_id and s.id = p_id;
  perform queue_form_webhook(p_project_id, p_id, 'declined', false);
end $$;
