-- Records an event from inside a function; statements use db/models/event-writing.ts. The contact must be locked.
create or replace function record_event(
  p_id uuid, p_project_id uuid, p_contact_id uuid, p_name text, p_data jsonb, p_email_id uuid, p_depth integer
) returns void language plpgsql as $$
begin
  insert into events (id, project_id, contact_id, name, data, email_id, depth)
  values (p_id, p_project_id, p_contact_id, p_name, p_data, p_email_id, coalesce(p_depth, cascade_depth()));
end $$;
