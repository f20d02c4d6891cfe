-- What a submission asks for reaches the contact, once: a PENDING one that is confirmed (p_context: confirmed), or a RECEIVED
-- one that needs no confirmation. The row's state decides where confirmation and expiry happen at the same moment. Returns
-- the state afterwards, or null for an unknown submission. p_topic_ids are those chosen on the page; null for all.
create or replace function apply_submission(
  p_project_id uuid, p_id uuid, p_topic_ids uuid[], p_context jsonb, out status text, out contact_id uuid
) language plpgsql as $$
#variable_conflict use_column
declare
  submission record;
  v_confirmed boolean := coalesce((p_context ->> 'confirmed')::boolean, false);
  v_asked jsonb;
  v_granted jsonb;
  v_topics uuid[];
  v_all boolean;
  v_known uuid;
  written record;
  v_patch jsonb;
  v_topic uuid;
begin
  select s.*, f.key into submission
  from form_submissions s left join forms f on f.id = s.form_id and f.project_id = p_project_id
  where s.project_id = p_project_id and s.id = p_id for update of s;
  if not found then return; end if;
  status := submission.status;
  contact_id := submission.contact_id;
  if status <> (case when v_confirmed then 'PENDING' else 'RECEIVED' end) then return; end if;
  if v_confirmed and submission.expires_at <= clock_timestamp() then
    perform expire_submission(p_project_id, p_id);
    status := 'EXPIRED';
    return;
  end if;
  v_asked := submission.context || jsonb_build_object('method', 'FORM', 'formId', submission.form_id,
    'formVersion', submission.form_version, 'submissionId', p_id);
  v_granted := v_asked || p_context || '{"consent": true}';
  v_all := submission.topic_ids = '{}';
  v_topics := array(select t.id from topics t where t.project_id = p_project_id and t.id = any (submission.topic_ids)
    and (p_topic_ids is null or t.id = any (p_topic_ids)) order by t.position, t.id);

  if submission.form_id is null then
    -- The choice of a contact. The page behind the link is what confirms it.
    v_granted := submission.context || p_context
      || jsonb_build_object('method', 'PAGE', 'consent', true, 'submissionId', p_id);
    perform choose_topics(p_project_id, submission.contact_id,
      (select coalesce(jsonb_object_agg(id, 'SUBSCRIBED'), '{}') from unnest(v_topics) as id), v_granted);
  else
    -- Before the contact is written: a complaint would unsubscribe a new one.
    delete from suppressions s where s.project_id = p_project_id and s.reason = 'COMPLAINT'
      and s.address_hash = address_hash(p_project_id, submission.email);
    select c.id into v_known from contacts c
    where c.project_id = p_project_id and c.email = submission.email for update;
    if v_confirmed and v_known is not null then
      perform write_requested(p_project_id, v_known, submission.email, v_topics, v_all, submission.created_at, v_asked);
    end if;
    v_patch := coalesce(submission.data, '{}');
    begin
      written := write_contact(p_project_id, submission.email, uuidv7(), case when v_all then true end,
        exists (select 1 from topics t where t.project_id = p_project_id and t.id = any (v_topics) and t.kind = 'MARKETING'),
        v_patch, '[]', coalesce(submission.defaults, '{}'), uuidv7(), jsonb_build_object('consent', v_granted));
    exception when check_violation then
      -- The contact's data would be too large with the fields.
      written := write_contact(p_project_id, submission.email, uuidv7(), case when v_all then true end, false,
        '{}', '[]', '{}', uuidv7(), jsonb_build_object('consent', v_granted));
    end;
    contact_id := written.id;
    if v_confirmed and v_known is null then
      perform write_requested(p_project_id, contact_id, submission.email, v_topics, v_all, submission.created_at, v_asked);
    end if;
    if v_all and written.is_new then
      perform write_consent(p_project_id, contact_id, submission.email, null,
        case when v_confirmed then 'CONFIRMED' else 'GRANTED' end, v_granted);
    end if;
    if v_topics <> '{}' then
      perform choose_topics(p_project_id, contact_id,
        (select jsonb_object_agg(id, 'SUBSCRIBED') from unnest(v_topics) as id),
        v_granted || jsonb_build_object('isNew', written.is_new));
    end if;
    perform record_event(uuidv7(), p_project_id, contact_id, 'form.' || submission.key || '.confirmed', jsonb_build_object(
      'formId', submission.form_id, 'key', submission.key, 'submissionId', p_id, 'email', submission.email,
      'pageUrl', submission.page_url, 'fields', v_patch), null, null);
  end if;
  status := 'CONFIRMED';
  update form_submissions s set status = 'CONFIRMED', contact_id = apply_submission.contact_id, confirmed_at = now(),
    settled_at = now(), data = null, defaults = null, due_at = null
  where s.project_id = p_project_id and s.id = p_id;
end $$;
