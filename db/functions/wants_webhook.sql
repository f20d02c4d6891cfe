-- Whether an endpoint or listener of the project wants a type. While a project is erased, nothing is wanted.
create or replace function wants_webhook(p_project_id uuid, p_type text) returns boolean language plpgsql stable as $$
begin
  return exists (
    select 1 from wanted_webhook_types w where w.project_id = p_project_id and w.pattern = any (webhook_patterns(p_type)))
    and current_setting('everpost.without_webhooks', true) is distinct from 'on';
end $$;
