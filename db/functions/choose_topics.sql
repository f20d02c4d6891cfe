-- Writes a contact's choices under its lock, with a consent record and an event for each that changes, and returns how many
-- did. p_choices has the state by topic id; the context is that of write_consent and, beyond it: consent (the caller proves
-- consent), isNew (the request has just created the contact), proven (the mailbox is proven, so doubleOptIn is met),
-- confirmed (a confirmation was answered) and texts (what was shown, by topic id). A page that is reached by a link in an
-- email proves the mailbox, which is the confirmation of a topic with doubleOptIn.
-- Consent to one MARKETING topic is not consent to the rest: where it creates or subscribes a contact, the other MARKETING
-- topics without a choice become UNSUBSCRIBED.
create or replace function choose_topics(
  p_project_id uuid, p_contact_id uuid, p_choices jsonb, p_context jsonb, p_depth integer default null
) returns integer language plpgsql as $$
declare
  contact record;
  topic record;
  v_state text;
  v_default text;
  v_chosen text;
  v_changed integer := 0;
  v_joined boolean := false;
  v_context jsonb;
  v_joined_context jsonb := p_context;
begin
  select c.id, c.email, c.subscribed, c.created_at into contact
  from contacts c where c.project_id = p_project_id and c.id = p_contact_id for update;
  if not found then return 0; end if;
  for topic in
    select t.id, t.key, t.kind, t.double_opt_in, wanted.value as state
    from jsonb_each_text(p_choices) as wanted join topics t on t.project_id = p_project_id and t.id = wanted.key::uuid
    order by t.position, t.id
  loop
    v_default := topic_state(p_project_id, topic.id, null, contact.created_at);
    v_chosen := (select ct.state from contact_topics ct
      where ct.project_id = p_project_id and ct.contact_id = contact.id and ct.topic_id = topic.id);
    v_state := topic.state;
    -- Who is SUBSCRIBED, be it by default, stays so.
    if v_state = 'SUBSCRIBED' and topic.double_opt_in and coalesce(v_chosen, v_default) <> 'SUBSCRIBED'
      and coalesce(p_context ->> 'proven', p_context ->> 'confirmed', 'false') <> 'true' then v_state := 'PENDING'; end if;
    v_context := p_context - 'texts';
    if p_context -> 'texts' ? topic.id::text then
      v_context := v_context || jsonb_build_object('text', p_context -> 'texts' -> topic.id::text);
    end if;
    if v_state = 'SUBSCRIBED' and topic.double_opt_in and p_context ->> 'method' = 'PAGE' then
      v_context := v_context || '{"confirmed": true}';
    end if;
    if v_state is distinct from v_chosen then
      perform write_topic_choice(p_project_id, contact.id, contact.email, topic.id, v_state, v_default, v_context, p_depth);
      v_changed := v_changed + 1;
    end if;
    if v_state = 'SUBSCRIBED' and topic.kind = 'MARKETING' then
      v_joined := true;
      v_joined_context := v_context;
    end if;
  end loop;

  if v_joined and p_context -> 'consent' = 'true' and (p_context -> 'isNew' = 'true' or not contact.subscribed) then
    for topic in
      select t.id from topics t where t.project_id = p_project_id and t.kind = 'MARKETING'
        and not exists (select from contact_topics ct
          where ct.project_id = p_project_id and ct.contact_id = contact.id and ct.topic_id = t.id)
      order by t.position, t.id
    loop
      perform write_topic_choice(p_project_id, contact.id, contact.email, topic.id, 'UNSUBSCRIBED',
        topic_state(p_project_id, topic.id, null, contact.created_at), '{"method": "SYSTEM"}', p_depth);
      v_changed := v_changed + 1;
    end loop;
    if not contact.subscribed then
      perform update_contact(p_project_id, contact.id, null, true, '{}', '[]', uuidv7(),
        jsonb_build_object('consent', v_joined_context), p_depth);
    end if;
  end if;
  return v_changed;
end $$;
