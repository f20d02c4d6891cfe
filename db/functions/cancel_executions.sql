-- Cancels active executions with their open steps, and their Temporal workflows through the outbox. Final when it
-- commits. A function, since a step may have begun while its execution's lock was waited for; hence clock_timestamp().
create or replace function cancel_executions(p_ids uuid[], p_reason text) returns integer language plpgsql as $$
declare
  ended uuid[];
begin
  with cancelled as (
    update executions set status = 'CANCELLED', exit_reason = p_reason, wake_at = null, awaited_event = null,
      completed_at = clock_timestamp(), updated_at = clock_timestamp()
    where id in (select e.id from executions e where e.id = any (p_ids) and e.status in ('RUNNING', 'WAITING')
      order by e.id for update)
    returning id
  )
  select array_agg(id) into ended from cancelled;
  if ended is null then return 0; end if;
  update execution_steps set status = 'CANCELLED', completed_at = clock_timestamp(), request = null
  where execution_id = any (ended) and status in ('RUNNING', 'WAITING');
  insert into outbox (queue, project_id, workflow_id, action)
  select 'control', project_id, workflow_id('execution', project_id::text, id::text, generation::text), 'cancel'
  from executions where id = any (ended);
  return cardinality(ended);
end $$;
