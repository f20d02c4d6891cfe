-- Queues execution.started, execution.completed, execution.failed and execution.cancelled. An exit completes. Starts come
-- in sets; ends are found by the row, since most updates of an execution are steps.
create or replace function queue_execution_webhooks() returns trigger language plpgsql as $$
begin
  if tg_level = 'ROW' then
    perform queue_webhook(new.project_id, case new.status when 'FAILED' then 'execution.failed'
      when 'CANCELLED' then 'execution.cancelled' else 'execution.completed' end, new.contact_id, execution_json(new));
    return null;
  end if;
  if not exists (
    select 1 from added e where (select true from wanted_webhook_types w where w.project_id = e.project_id limit 1)
  ) then return null; end if;
  perform queue_webhook(e.project_id, 'execution.started', e.contact_id, execution_json(row(e.*)::executions))
  from added e;
  return null;
end $$;

create or replace trigger executions_queue_webhooks_started after insert on executions
  referencing new table as added for each statement execute function queue_execution_webhooks();
create or replace trigger executions_queue_webhooks_ended after update of status on executions for each row
  when (old.status is distinct from new.status and new.status in ('COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'))
  execute function queue_execution_webhooks();
