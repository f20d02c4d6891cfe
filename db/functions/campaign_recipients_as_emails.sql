-- Recipients without a row in `emails` yet, with its columns, for readers that need both.
create or replace view campaign_recipients_as_emails as
  select r.email_id as id, r.project_id, r.contact_id, 'CAMPAIGN'::text as source_type, 2::smallint as priority,
    'PENDING'::text as status, null::text as reason, 0 as attempts, 0 as unknown_outcomes,
    uuid_extract_timestamp(r.email_id) as due_at, null::text as provider_message_id, null::timestamptz as sent_at,
    uuid_extract_timestamp(r.email_id) as created_at, uuid_extract_timestamp(r.email_id) as updated_at, c.template_id,
    r.campaign_id, null::text as to_email, null::text as rendered_subject, null::jsonb as attempt_log
  from campaign_recipients r join campaigns c on c.id = r.campaign_id;
