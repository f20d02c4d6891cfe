-- Choices that were not confirmed are again what they were before, with one consent record each: EXPIRED or DECLINED.
create or replace function end_pending_choices(
  p_project_id uuid, p_contact_id uuid, p_email text, p_topic_ids uuid[], p_action text, p_context jsonb
) returns void language plpgsql as $$
declare
  choice record;
  v_consent_id uuid;
begin
  perform from contacts c where c.project_id = p_project_id and c.id = p_contact_id for update;
  for choice in
    select ct.topic_id, ct.before_pending from contact_topics ct
    where ct.project_id = p_project_id and ct.contact_id = p_contact_id and ct.state = 'PENDING'
      and ct.topic_id = any (p_topic_ids)
  loop
    v_consent_id := write_consent(p_project_id, p_contact_id, p_email, choice.topic_id, p_action, p_context);
    if choice.before_pending is null then
      delete from contact_topics ct
      where ct.contact_id = p_contact_id and ct.topic_id = choice.topic_id and ct.project_id = p_project_id;
    else
      update contact_topics ct set state = choice.before_pending, since = now(), before_pending = null,
        consent_id = v_consent_id
      where ct.contact_id = p_contact_id and ct.topic_id = choice.topic_id and ct.project_id = p_project_id;
    end if;
    insert into contact_changes (project_id, contact_id, dependencies)
    select p_project_id, p_contact_id, dependencies from (
      select array_agg(d.dependency) as dependencies
      from segment_dependencies d join topics t on t.project_id = p_project_id and t.id = choice.topic_id
      where d.project_id = p_project_id and d.dependency in ('topic.' || t.id, 'topic.' || t.key)
    ) used where dependencies is not null;
  end loop;
end $$;
