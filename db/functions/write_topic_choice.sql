-- Writes one choice with its consent record, event and webhook. The contact must be locked.
create or replace function write_topic_choice(
  p_project_id uuid, p_contact_id uuid, p_email text, p_topic_id uuid, p_state text, p_default text, p_context jsonb,
  p_depth integer default null
) returns void language plpgsql as $$
declare
  v_at timestamptz := now();
  v_consent_id uuid;
  v_key text := (select t.key from topics t where t.project_id = p_project_id and t.id = p_topic_id);
  v_data jsonb;
  v_before text := (select ct.state from contact_topics ct
    where ct.project_id = p_project_id and ct.contact_id = p_contact_id and ct.topic_id = p_topic_id);
begin
  v_consent_id := write_consent(p_project_id, p_contact_id, p_email, p_topic_id, case
    when p_state = 'PENDING' then 'REQUESTED' when p_state = 'UNSUBSCRIBED' then 'WITHDRAWN'
    when p_context -> 'confirmed' = 'true' then 'CONFIRMED' else 'GRANTED' end, p_context);
  insert into contact_topics as t
    (contact_id, topic_id, project_id, state, default_state, before_pending, since, withdrawn_at, consent_id)
  values (p_contact_id, p_topic_id, p_project_id, p_state, p_default, null, v_at,
    case when p_state = 'UNSUBSCRIBED' and coalesce(p_context ->> 'method', 'SYSTEM') <> 'SYSTEM' then v_at end, v_consent_id)
  on conflict (contact_id, topic_id) do update set state = excluded.state, since = excluded.since,
    before_pending = case when excluded.state = 'PENDING' then coalesce(t.before_pending, t.state) end,
    withdrawn_at = case when excluded.state = 'SUBSCRIBED' then null else coalesce(excluded.withdrawn_at, t.withdrawn_at) end,
    consent_id = excluded.consent_id;
  -- Whatever replaces a choice that waits for its confirmation ends the wait; apply_submission does so itself.
  if v_before = 'PENDING' and not p_context ? 'submissionId' then
    update form_submissions s set status = case when p_state = 'SUBSCRIBED' then 'CONFIRMED' else 'EXPIRED' end,
      settled_at = v_at, confirmed_at = case when p_state = 'SUBSCRIBED' then v_at end, due_at = null
    where s.project_id = p_project_id and s.contact_id = p_contact_id and s.topic_ids = array[p_topic_id]
      and s.form_id is null and s.status in ('RECEIVED', 'PENDING');
  end if;
  if p_state = 'PENDING' then
    insert into form_submissions (id, project_id, topic_ids, address_hash, email, context, bulk, contact_id, due_at)
    values (uuidv7(), p_project_id, array[p_topic_id], address_hash(p_project_id, p_email), p_email,
      p_context - 'consent' - 'isNew', coalesce(p_context ->> 'method' = 'IMPORT' or p_context ? 'bulk', false),
      p_contact_id, v_at);
  end if;
  insert into contact_changes (project_id, contact_id, dependencies)
  select p_project_id, p_contact_id, dependencies from (
    select array_agg(d.dependency) as dependencies from segment_dependencies d
    where d.project_id = p_project_id and d.dependency in ('topic.' || p_topic_id, 'topic.' || v_key)
  ) used where dependencies is not null;
  v_data := jsonb_build_object('topicId', p_topic_id, 'key', v_key, 'method', coalesce(p_context ->> 'method', 'SYSTEM'),
    'consentId', v_consent_id, 'formId', p_context -> 'formId', 'emailId', p_context -> 'emailId',
    'campaignId', p_context -> 'campaignId', 'workflowId', p_context -> 'workflowId')
    -- Of a page: what kind of program sent its form.
    || case when p_context ? 'userAgentClass' then jsonb_build_object('userAgentClass', p_context -> 'userAgentClass') else '{}' end;
  if p_state = 'PENDING' then
    perform queue_webhook(p_project_id, 'topic.' || v_key || '.pending', p_contact_id,
      v_data || jsonb_build_object('contactId', p_contact_id, 'email', p_email, 'projectId', p_project_id));
  else
    perform record_event(uuidv7(), p_project_id, p_contact_id, 'topic.' || v_key || '.' || lower(p_state), v_data, null, p_depth);
  end if;
end $$;
