-- Queues email.unknown for mails whose outcome has become unknown. No event is recorded for these, so the data is built
-- here as that of other events of mail (services/emails/mail-events.ts).
create or replace function queue_unknown_emails() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from after where status = 'UNKNOWN') then return null; end if;
  perform queue_webhook(m.project_id, 'email.unknown', m.contact_id, jsonb_build_object('emailId', m.id,
    'from', sender.email, 'templateId', m.template_id, 'campaignId', m.campaign_id, 'workflowId', m.workflow_id,
    'sourceType', m.source_type,
    'subject', coalesce(content.rendered_subject, content.subject, m.rendered_subject, campaign.subject),
    'messageId', '<' || m.id || '@' || split_part(sender.email, '@', 2) || '>', 'reason', m.reason,
    'eventId', made.id, 'contactId', m.contact_id, 'email', contact.email, 'projectId', m.project_id), false, made.id)
  from after m
  join before b on b.id = m.id and b.status <> 'UNKNOWN'
  left join email_contents content on content.email_id = m.id
  left join campaigns campaign on campaign.id = m.campaign_id
  left join contacts contact on contact.id = m.contact_id
  cross join lateral (select coalesce(content.from_email, campaign.from_email) as email) sender
  cross join lateral (select uuidv7() as id) made
  where m.status = 'UNKNOWN' and not m.without_events and wants_webhook(m.project_id, 'email.unknown');
  return null;
end $$;

create or replace trigger emails_queue_unknown after update on emails referencing old table as before new table as after
  for each statement execute function queue_unknown_emails();
