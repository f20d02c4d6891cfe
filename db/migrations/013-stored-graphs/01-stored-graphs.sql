-- The newest version of a workflow is the graph that people edit. What only `workflow_steps` had so far moves into it:
-- positions and times. Both tables of rows are dropped by a later migration.
update workflow_versions v
set graph = jsonb_set(v.graph, '{steps}', coalesce((
  select jsonb_agg(step || jsonb_build_object('position', s.position, 'createdAt', s.created_at, 'updatedAt', s.updated_at)
    order by s.id)
  from jsonb_array_elements(v.graph -> 'steps') as step
  join workflow_steps s on s.workflow_id = v.workflow_id and s.id = (step ->> 'id')::uuid), '[]'))
from workflows w
where w.id = v.workflow_id and w.version = v.version;

-- Versions of earlier programs have no positions.
update workflow_versions
set graph = jsonb_set(graph, '{steps}', (
  select jsonb_agg('{"position": {"x": 0, "y": 0}}'::jsonb || step order by n)
  from jsonb_array_elements(graph -> 'steps') with ordinality as steps (step, n)))
where exists (select 1 from jsonb_array_elements(graph -> 'steps') as step where not step ? 'position');
