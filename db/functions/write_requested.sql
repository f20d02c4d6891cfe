-- Records, once a submission is confirmed, what was asked for when it was submitted. Until then no consent record holds the
-- address.
create or replace function write_requested(
  p_project_id uuid, p_contact_id uuid, p_email text, p_topic_ids uuid[], p_all boolean, p_at timestamptz, p_context jsonb
) returns void language plpgsql as $$
begin
  perform write_consent(p_project_id, p_contact_id, p_email, asked.id, 'REQUESTED', p_context || jsonb_build_object('at', p_at)
    || case when p_context -> 'texts' ? asked.id::text then jsonb_build_object('text', p_context -> 'texts' -> asked.id::text)
      else '{}' end)
  from (select unnest(p_topic_ids) as id union all select null where p_all) asked;
end $$;
