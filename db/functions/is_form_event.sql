-- Whether an event of this name is recorded by the service for one of the project's forms. Names that a project used before
-- stay its own until the form exists; events of a deleted form are still the service's.
create or replace function is_form_event(p_project_id uuid, p_name text, p_deleted boolean) returns boolean
language plpgsql stable as $$
begin
  return p_name like 'form.%' and p_name ~ '^form\.[a-z0-9-]+\.confirmed$' and exists (
    select 1 from forms f where f.project_id = p_project_id and f.key = split_part(p_name, '.', 2)
      and (p_deleted or f.deleted_at is null));
end $$;
