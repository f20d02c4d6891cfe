-- Whether an event of this name is recorded by the service for one of the project's topics: names that a project used for
-- its own events before stay its own until the topic exists.
create or replace function is_topic_event(p_project_id uuid, p_name text) returns boolean language plpgsql stable as $$
begin
  return p_name like 'topic.%' and p_name ~ '^topic\.[a-z0-9-]+\.(subscribed|unsubscribed)$' and exists (
    select 1 from topics t where t.project_id = p_project_id and t.key = split_part(p_name, '.', 2));
end $$;
