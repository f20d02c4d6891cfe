-- Erases what submissions that ended unconfirmed have left in queued and logged payloads, and the answers that receivers gave
-- to them. The contact of these payloads is that of the address (contact_id_of_address).
create or replace function erase_form_webhooks(p_submission_ids uuid[]) returns void language plpgsql as $$
begin
  with submission as (
    select s.id, s.project_id, encode(substring(s.address_hash for 16), 'hex')::uuid as contact_id
    from form_submissions s where s.id = any (p_submission_ids) and s.form_id is not null
  ), erased as (
    update webhook_events e set data = e.data || '{"email": null, "pageUrl": null}'
    from submission
    where e.project_id = submission.project_id and e.contact_id = submission.contact_id
      and e.data ->> 'submissionId' = submission.id::text
    returning e.id, e.project_id
  )
  update webhook_deliveries d set attempt_log = (
    select jsonb_agg(attempt || '{"answer": null}' order by n)
    from jsonb_array_elements(d.attempt_log) with ordinality as log (attempt, n))
  from erased
  where d.project_id = erased.project_id and d.event_id = erased.id and d.attempt_log <> '[]';
end $$;
