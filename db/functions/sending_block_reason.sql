-- The one rule that decides whether mail may be sent: null, or why it is blocked. An empty domain skips the check of
-- the sender. Our own mail (services/system) is sent from a domain that belongs to no project. In plpgsql, which keeps
-- its plans: it is asked for every batch of mail.
create or replace function sending_block_reason(p_project_id uuid, p_domain text, p_source text default null)
returns text language plpgsql stable as $$
declare
  project record;
begin
  select p.disabled, p.sending_blocked_reason, p.capped_sources into project from projects p where p.id = p_project_id;
  if not found or project.disabled then return 'project disabled'; end if;
  if project.sending_blocked_reason is not null then return project.sending_blocked_reason; end if;
  if p_domain <> '' and p_project_id <> '00000000-0000-7000-8000-000000000001' and not exists (
    select 1 from domains d where d.project_id = p_project_id and d.domain = p_domain and d.status = 'VERIFIED'
  ) then return 'domain not verified'; end if;
  if p_source = any (project.capped_sources) then return 'billing cap reached'; end if;
  return null;
end $$;
