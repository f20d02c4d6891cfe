-- Queues a webhook about a submission: submitted, declined or expired. Choices of topics have no form and none of these. The contact
-- by which a payload is erased is that of the address (contact_id_of_address).
create or replace function queue_form_webhook(
  p_project_id uuid, p_submission_id uuid, p_what text, p_with_email boolean
) returns void language plpgsql as $$
declare
  submission record;
begin
  select f.id as form_id, f.key, s.email, s.page_url, encode(substring(s.address_hash for 16), 'hex')::uuid as contact_id
  into submission
  from form_submissions s join forms f on f.id = s.form_id and f.project_id = p_project_id
  where s.project_id = p_project_id and s.id = p_submission_id;
  if not found then return; end if;
  perform queue_webhook(p_project_id, 'form.' || submission.key || '.' || p_what, submission.contact_id, jsonb_build_object(
    'formId', submission.form_id, 'key', submission.key, 'submissionId', p_submission_id,
    'email', case when p_with_email then submission.email end, 'pageUrl', submission.page_url, 'projectId', p_project_id));
end $$;
