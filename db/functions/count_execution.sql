-- Counts started and completed executions. One that failed or was cancelled is not completed; a retry may complete it.
create or replace function count_execution() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into activity_deltas (project_id, kind, at, delta) values (new.project_id, 'started', new.started_at, 1);
  end if;
  if new.status in ('COMPLETED', 'EXITED') then
    insert into activity_deltas (project_id, kind, at, delta)
    values (new.project_id, 'completed', coalesce(new.completed_at, now()), 1);
  end if;
  return null;
end $$;

create or replace trigger executions_count_started after insert on executions
  for each row execute function count_execution();
create or replace trigger executions_count_completed after update of status on executions for each row
  when (old.status not in ('COMPLETED', 'EXITED') and new.status in ('COMPLETED', 'EXITED'))
  execute function count_execution();
