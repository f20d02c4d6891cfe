-- Restores what a change on a page has changed, except what was changed again since. False: the change is unknown or older
-- than a day. A topic that was PENDING becomes UNSUBSCRIBED: its confirmation may have been answered or have expired.
create or replace function undo_page_change(
  p_project_id uuid, p_contact_id uuid, p_change_id uuid, p_context jsonb, p_event_data jsonb
) returns boolean language plpgsql as $$
declare
  contact record;
  topic record;
  v_change jsonb;
  v_latest uuid;
begin
  select c.id, c.email, c.subscribed, c.snoozed_until, c.frequency, c.created_at into contact
  from contacts c where c.project_id = p_project_id and c.id = p_contact_id for update;
  if not found then return false; end if;
  select p.change, (p.change ->> 'lastConsentId')::uuid into v_change, v_latest from page_changes p
  where p.id = p_change_id and p.project_id = p_project_id and p.contact_id = p_contact_id and p.at > now() - interval '24 hours';
  if not found then return false; end if;

  if contact.subscribed = (v_change -> 'subscribed' -> 'after')::boolean and not exists (
      select from consents r where r.project_id = p_project_id and r.contact_id = contact.id and r.id > v_latest
        and r.topic_id is null and r.action in ('GRANTED', 'CONFIRMED', 'WITHDRAWN')) then
    perform update_contact(p_project_id, contact.id, null, (v_change -> 'subscribed' -> 'before')::boolean, '{}', '[]', uuidv7(),
      p_event_data || jsonb_build_object('consent', p_context));
  end if;

  for topic in
    select t.id, t.double_opt_in, was.value -> 'isOwn' = 'true' as is_own, ct.state as state_now,
      case was.value ->> 'before' when 'SUBSCRIBED' then 'SUBSCRIBED' else 'UNSUBSCRIBED' end as state
    from jsonb_each(v_change -> 'topics') as was
    join topics t on t.project_id = p_project_id and t.id = was.key::uuid
    join contact_topics ct on ct.project_id = p_project_id and ct.contact_id = contact.id and ct.topic_id = t.id
      and ct.consent_id = (was.value ->> 'consentId')::uuid
    order by t.position, t.id
  loop
    continue when topic.state = topic.state_now;
    perform write_topic_choice(p_project_id, contact.id, contact.email, topic.id, topic.state,
      topic_state(p_project_id, topic.id, null, contact.created_at),
      case when not topic.is_own then '{"method": "SYSTEM"}'
        when topic.double_opt_in and topic.state = 'SUBSCRIBED' then p_context || '{"confirmed": true}' else p_context end);
  end loop;

  perform set_config('everpost.consent', p_context::text, true);
  update contacts c set updated_at = now(), snoozed_until = case
      when (v_change -> 'snoozedUntil' ->> 'before')::timestamptz > now() then (v_change -> 'snoozedUntil' ->> 'before')::timestamptz end
  where c.project_id = p_project_id and c.id = contact.id and v_change ? 'snoozedUntil'
    and c.snoozed_until is not distinct from (v_change -> 'snoozedUntil' ->> 'after')::timestamptz
    and not exists (select from consents r where r.project_id = p_project_id and r.contact_id = contact.id and r.id > v_latest
      and r.topic_id is null and r.action = 'SNOOZED');
  update contacts c set frequency = nullif(v_change -> 'frequency' -> 'before', 'null'), updated_at = now()
  where c.project_id = p_project_id and c.id = contact.id and v_change ? 'frequency'
    and c.frequency is not distinct from nullif(v_change -> 'frequency' -> 'after', 'null');
  return true;
end $$;
