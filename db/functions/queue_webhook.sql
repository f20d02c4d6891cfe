-- Queues one event for the project's endpoints, if one wants it, in the transaction of what happened. `position` orders
-- it among the recorded events. An incomplete one is completed by the relay (services/webhooks/complete.ts).
create or replace function queue_webhook(
  p_project_id uuid, p_type text, p_contact_id uuid, p_data jsonb, p_incomplete boolean default false,
  p_id uuid default uuidv7()
) returns void language plpgsql as $$
begin
  if not wants_webhook(p_project_id, p_type) then return; end if;
  with stored as (
    insert into webhook_events (id, project_id, type, contact_id, data)
    values (p_id, p_project_id, p_type, p_contact_id,
      cut_webhook_data(p_data || jsonb_build_object('position', nextval('event_positions'))))
    returning id, project_id, created_at
  )
  insert into webhook_queue (project_id, event_id, event_created_at, incomplete)
  select project_id, id, created_at, p_incomplete from stored;
end $$;
