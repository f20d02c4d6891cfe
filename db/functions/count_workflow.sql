-- Counts executions that start, end or are tried again, and what that means for the step that they are at. Steps on the
-- way are counted by write_execution_step. For activity only COMPLETED and EXITED are completed.
create or replace function count_workflow() returns trigger language plpgsql as $$
declare
  is_end boolean;
  result text;
  day timestamptz;
begin
  if tg_op = 'INSERT' then
    insert into counter_deltas (project_id, subject, period, part, counts)
    select project_id, subject, period, part, jsonb_build_object(name, count(*))
    from added, lateral (values
      ('workflow/' || workflow_id || '/days', date_trunc('day', started_at, 'UTC'), version::text, 'started'),
      ('workflow/' || workflow_id || '/days', date_trunc('day', started_at, 'UTC'), version || '/' || current_step_id, 'entered'),
      ('activity/hours', date_trunc('hour', started_at, 'UTC'), '', 'started'),
      ('activity/hours', date_trunc('hour', coalesce(completed_at, now()), 'UTC'),
        case when status in ('COMPLETED', 'EXITED') then '' end, 'completed')) as counted (subject, period, part, name)
    where part is not null group by 1, 2, 3, 4, name;
    return null;
  end if;
  is_end := new.status in ('COMPLETED', 'EXITED', 'FAILED', 'CANCELLED');
  -- Tried again, as if it had not failed.
  result := case when is_end then lower(new.status) else 'failed' end;
  day := date_trunc('day', case when is_end then now() else coalesce(old.completed_at, now()) end, 'UTC');
  insert into counter_deltas (project_id, subject, period, part, counts)
  select new.project_id, subject, period, part,
    (select jsonb_object_agg(name, case when is_end then 1 else -1 end) from unnest(names) as name)
  from (values
    ('workflow/' || new.workflow_id || '/days', day, new.version::text, array[result]),
    ('workflow/' || new.workflow_id || '/days', day, new.version || '/' || new.current_step_id,
      case result when 'failed' then array['left', result] else array['left'] end),
    ('activity/hours', date_trunc('hour', coalesce(new.completed_at, now()), 'UTC'),
      case when new.status in ('COMPLETED', 'EXITED') and old.status not in ('COMPLETED', 'EXITED') then '' end,
      array['completed'])) as counted (subject, period, part, names)
  where part is not null;
  return null;
end $$;

create or replace trigger executions_count_workflow_started after insert on executions
  referencing new table as added for each statement execute function count_workflow();
create or replace trigger executions_count_workflow_ended after update of status on executions for each row
  when (old.status is distinct from new.status and (old.status in ('COMPLETED', 'EXITED', 'FAILED', 'CANCELLED')
    or new.status in ('COMPLETED', 'EXITED', 'FAILED', 'CANCELLED')))
  execute function count_workflow();
