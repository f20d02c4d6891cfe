-- Appends the deltas of recorded events, queues their contacts where a tracked segment depends on the event, and queues
-- the events that a workflow starts with or an execution waits for. Per statement: under load events are written in
-- batches. Events and waits are both written under the contact's lock, so the second of two sees the first. The inner
-- limits make the planner look rows up one by one instead of reading all executions.
create or replace function process_added_events() returns trigger language plpgsql as $$
begin
  insert into event_deltas (project_id, name, contact_id, at, in_feed, event_id)
  select project_id, name, contact_id, created_at, activity_type(name, data) <> 'hidden',
    case when email_id is not null and name like 'email.%' then id end
  from added;
  insert into contact_changes (project_id, contact_id, dependencies)
  select e.project_id, e.contact_id, array['event.' || e.name] from added e
  where exists (
    select 1 from segment_dependencies d where d.project_id = e.project_id and d.dependency = 'event.' || e.name);
  insert into event_queue (project_id, event_id, event_created_at)
  select e.project_id, e.id, e.created_at from added e
  where coalesce(
    (select true from workflows w where w.project_id = e.project_id and w.event_name = e.name limit 1),
    (select true from executions x
      where x.project_id = e.project_id and x.contact_id = e.contact_id and x.awaited_event = e.name limit 1));
  return null;
end $$;

create or replace trigger events_added after insert on events
  referencing new table as added for each statement execute function process_added_events();
