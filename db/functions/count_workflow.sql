-- Counts executions that start, end or are tried again, and what that means for the step that they are at. Steps on the
-- way are counted by write_execution_step.
create or replace function count_workflow() returns trigger language plpgsql as $$
declare
  nil constant uuid := '00000000-0000-0000-0000-000000000000';
  today constant date := (now() at time zone 'UTC')::date;
begin
  if tg_op = 'INSERT' then
    insert into workflow_count_deltas (project_id, workflow_id, version, step_id, day, names, delta)
    select project_id, workflow_id, version, step_id, (started_at at time zone 'UTC')::date, names, count(*)
    from (
      select project_id, workflow_id, version, nil as step_id, started_at, array['started'] as names from added
      union all
      select project_id, workflow_id, version, current_step_id, started_at, array['entered'] from added
      where current_step_id is not null
    ) counted
    group by 1, 2, 3, 4, 5, 6;
    return null;
  end if;
  if new.status in ('COMPLETED', 'EXITED', 'FAILED', 'CANCELLED') then
    insert into workflow_count_deltas (project_id, workflow_id, version, step_id, day, names, delta)
    values (new.project_id, new.workflow_id, new.version, nil, today, array[lower(new.status)], 1);
    if new.current_step_id is not null then
      insert into workflow_count_deltas (project_id, workflow_id, version, step_id, day, names, delta)
      values (new.project_id, new.workflow_id, new.version, new.current_step_id, today,
        case new.status when 'FAILED' then array['left', 'failed'] else array['left'] end, 1);
    end if;
  else
    -- Tried again, as if it had not failed.
    insert into workflow_count_deltas (project_id, workflow_id, version, step_id, day, names, delta)
    select new.project_id, new.workflow_id, new.version, step_id,
      (coalesce(old.completed_at, now()) at time zone 'UTC')::date, names, -1
    from (values (nil, array['failed']), (new.current_step_id, array['left', 'failed'])) as undone (step_id, names)
    where step_id is not null;
  end if;
  return null;
end $$;

create or replace trigger executions_count_workflow_started after insert on executions
  referencing new table as added for each statement execute function count_workflow();
create or replace trigger executions_count_workflow_ended after update of status on executions for each row
  when (old.status is distinct from new.status and (old.status in ('COMPLETED', 'EXITED', 'FAILED', 'CANCELLED')
    or new.status in ('COMPLETED', 'EXITED', 'FAILED', 'CANCELLED')))
  execute function count_workflow();
