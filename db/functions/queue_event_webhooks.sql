-- Queues recorded events that an endpoint wants. A project without endpoints costs one index lookup per event; the inner
-- limits make the planner look each row up. What is wanted is asked once per name: under load events come in sets.
create or replace function queue_event_webhooks() returns trigger language plpgsql as $$
begin
  if not exists (
    select 1 from added e where (select true from wanted_webhook_types w where w.project_id = e.project_id limit 1)
  ) then return null; end if;
  with happened as materialized (
    select project_id, name, case when is_reserved_event(name) or is_topic_event(project_id, name)
        or is_form_event(project_id, name, true) then name else 'event.' || name end as type
    from added group by project_id, name
  ),
  wanted as materialized (select * from happened where wants_webhook(project_id, type)),
  stored as (
    insert into webhook_events (id, project_id, type, contact_id, data, happened_at, created_at)
    select e.id, e.project_id, w.type, e.contact_id, cut_webhook_data(
        case
          when w.type like 'event.%' then jsonb_build_object('eventId', e.id, 'contactId', e.contact_id,
            'email', c.email, 'projectId', e.project_id, 'position', e.position, 'name', e.name, 'data', e.data)
          when w.type like 'contact.%' and c.id is not null then e.data || contact_json(row(c.*)::contacts)
            || jsonb_build_object('eventId', e.id, 'contactId', e.contact_id, 'projectId', e.project_id,
              'position', e.position)
          else e.data || jsonb_build_object('eventId', e.id, 'contactId', e.contact_id, 'email', c.email,
            'projectId', e.project_id, 'position', e.position)
        end),
      e.created_at, e.created_at
    from wanted w
    join added e on e.project_id = w.project_id and e.name = w.name
    left join lateral (select * from contacts where contacts.id = e.contact_id limit 1) c on true
    returning id, project_id, created_at
  )
  insert into webhook_queue (project_id, event_id, event_created_at)
  select project_id, id, created_at from stored;
  return null;
end $$;

create or replace trigger events_queue_webhooks after insert on events
  referencing new table as added for each statement execute function queue_event_webhooks();
