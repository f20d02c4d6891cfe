-- Copies the newest graph of a workflow to the rows that the previous version of the program edits, while a release is
-- rolled out. The rows are read by no other one. A later version drops this with both tables.
create or replace function copy_newest_graph() returns trigger language plpgsql as $$
declare
  project constant uuid := (select project_id from workflows w where w.id = new.workflow_id and w.version <= new.version);
begin
  -- An older version, whose headers were sealed anew.
  if project is null then return null; end if;
  delete from workflow_transitions where workflow_id = new.workflow_id;
  delete from workflow_steps s where s.workflow_id = new.workflow_id and not exists (
    select 1 from jsonb_array_elements(new.graph -> 'steps') step where (step ->> 'id')::uuid = s.id);
  insert into workflow_steps as s
    (id, project_id, workflow_id, type, name, position, config, template_id, created_at, updated_at)
  select (step ->> 'id')::uuid, project, new.workflow_id, step ->> 'type', step ->> 'name',
    coalesce(step -> 'position', '{"x": 0, "y": 0}'), step -> 'config', (step ->> 'templateId')::uuid,
    coalesce((step ->> 'createdAt')::timestamptz, now()), coalesce((step ->> 'updatedAt')::timestamptz, now())
  from jsonb_array_elements(new.graph -> 'steps') step
  on conflict (workflow_id, id) do update set type = excluded.type, name = excluded.name, position = excluded.position,
    config = excluded.config, template_id = excluded.template_id, updated_at = excluded.updated_at;
  insert into workflow_transitions (id, project_id, workflow_id, from_step_id, to_step_id, branch)
  select (transition ->> 'id')::uuid, project, new.workflow_id, (transition ->> 'fromStepId')::uuid,
    (transition ->> 'toStepId')::uuid, transition ->> 'branch'
  from jsonb_array_elements(new.graph -> 'transitions') transition;
  return null;
end $$;

create or replace trigger workflow_versions_copy after insert or update of graph on workflow_versions
  for each row execute function copy_newest_graph();
