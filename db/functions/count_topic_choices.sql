-- Appends the deltas of choices: by state, and by the default that they take the place of.
create or replace function count_topic_choices() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' or tg_op = 'UPDATE' then
    insert into counter_deltas (project_id, subject, counts)
    select project_id, 'topic/' || topic_id, jsonb_object_agg(name, count) from (
      select project_id, topic_id, name, count(*) as count
      from after, lateral (values (lower(state)), ('over ' || lower(default_state))) as number (name) group by 1, 2, 3
    ) added group by project_id, topic_id;
  end if;
  if tg_op = 'DELETE' or tg_op = 'UPDATE' then
    insert into counter_deltas (project_id, subject, counts)
    select project_id, 'topic/' || topic_id, jsonb_object_agg(name, -count) from (
      select project_id, topic_id, name, count(*) as count
      from before, lateral (values (lower(state)), ('over ' || lower(default_state))) as number (name) group by 1, 2, 3
    ) removed group by project_id, topic_id;
  end if;
  return null;
end $$;

create or replace trigger contact_topics_count_added after insert on contact_topics
  referencing new table as after for each statement execute function count_topic_choices();
create or replace trigger contact_topics_count_changed after update on contact_topics
  referencing old table as before new table as after for each statement execute function count_topic_choices();
create or replace trigger contact_topics_count_removed after delete on contact_topics
  referencing old table as before for each statement execute function count_topic_choices();
