-- The effective state of a topic: the contact's choice, else the default in force when the contact was created. Without a
-- contact, the present default (p_created_at infinity).
create or replace function topic_state(
  p_project_id uuid, p_topic_id uuid, p_contact_id uuid, p_created_at timestamptz
) returns text language sql stable parallel safe as $$
  select coalesce(
    (select t.state from contact_topics t 
     where t.contact_id = p_contact_id and t.topic_id = p_topic_id and t.project_id = p_project_id),
    (select d.state from topic_defaults d 
     where d.topic_id = p_topic_id and d.project_id = p_project_id and d.since <= coalesce(p_created_at, 'infinity')
     order by d.since desc limit 1))
$$;
