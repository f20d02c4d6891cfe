-- Stores again which types the endpoints and listeners of a project want. A disabled endpoint still wants its types
-- for 30 days. The lock lets concurrent changes of one project follow one another.
create or replace function renew_wanted_webhook_types(p_project_id uuid) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('wanted webhook types/' || p_project_id, 0));
  delete from wanted_webhook_types w where w.project_id = p_project_id;
  insert into wanted_webhook_types (project_id, pattern)
  select p_project_id, unnest(types) from webhook_endpoints
  where project_id = p_project_id and (enabled or disabled_at > now() - interval '30 days')
  union
  select p_project_id, unnest(types) from webhook_listeners where project_id = p_project_id;
end $$;
