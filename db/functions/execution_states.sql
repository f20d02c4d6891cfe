-- An execution at its current step, with its contact: all that most steps depend on. row_versions identifies the
-- versions of both rows: while it is the same, neither has been written.
create or replace view execution_states as
  select e.id, e.project_id, e.workflow_id, w.name as workflow_name, e.version, e.contact_id, e.status,
    e.current_step_id, e.visit, e.context, e.after_position, e.wake_at, e.awaited_event, e.depth, e.generation,
    e.started_at, c.email, c.subscribed, c.data, c.created_at, c.updated_at,
    e.xmin::text || '/' || c.xmin::text as row_versions
  from executions e
  left join contacts c on c.id = e.contact_id
  left join workflows w on w.id = e.workflow_id;
