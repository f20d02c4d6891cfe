-- Erases addresses and data of deleted contacts from queued and logged payloads, and the answers that receivers gave to
-- them. What is left are ids, so that waiting deliveries still say what happened.
create or replace function erase_webhook_payloads(p_project_id uuid, p_contact_ids uuid[], p_emails text[])
returns void language plpgsql as $$
begin
  with erased as (
    update webhook_events e set data = coalesce((
      select jsonb_object_agg(key, value) from jsonb_each(e.data)
      where key in ('id', 'eventId', 'contactId', 'projectId', 'position', 'name', 'emailId', 'templateId', 'campaignId',
        'workflowId', 'segmentId', 'version', 'status', 'truncated')), '{}')
    where e.project_id = p_project_id and e.contact_id = any (p_contact_ids)
    returning e.id
  )
  update webhook_deliveries d set attempt_log = (
    select jsonb_agg(attempt || '{"answer": null}' order by n)
    from jsonb_array_elements(d.attempt_log) with ordinality as log (attempt, n))
  from erased
  where d.project_id = p_project_id and d.event_id = erased.id and d.attempt_log <> '[]';
  delete from webhook_listener_messages m
  where m.project_id = p_project_id
    and coalesce(m.data ->> 'contactId', m.data ->> 'id') = any (p_contact_ids::text[]) and m.type <> 'contact.deleted';
  -- Imports list bad rows with their addresses, spelled as in the file.
  update webhook_events e set data = jsonb_set(e.data, '{result,errors}', (
    select jsonb_agg(
      case when addresses_in(error ->> 'email') && p_emails then error || '{"email": null}' else error end order by n)
    from jsonb_array_elements(e.data #> '{result,errors}') with ordinality as errors (error, n)))
  where e.project_id = p_project_id and e.contact_id is null and e.type like 'job.%' and exists (
    select 1 from jsonb_array_elements(case jsonb_typeof(e.data #> '{result,errors}') when 'array'
      then e.data #> '{result,errors}' else '[]' end) as error
    where addresses_in(error ->> 'email') && p_emails);
end $$;
