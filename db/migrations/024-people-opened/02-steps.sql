-- The same by step of a workflow, and clicks of people.
insert into counter_deltas (project_id, subject, period, part, counts)
select project_id, 'workflow/' || workflow_id || '/days', day, part, jsonb_object_agg('mail:' || name, count) from (
  select m.project_id, e.workflow_id, date_trunc('day', times.at, 'UTC') as day, e.version || '/' || s.step_id as part,
    times.name, count(*) as count
  from emails m
  join executions e on e.id = m.execution_id
  join workflows w on w.id = e.workflow_id
  join execution_steps s on s.execution_id = m.execution_id and s.visit = m.step_visit,
    lateral (values ('peopleOpened', least(m.human_opened_at, m.human_clicked_at)), ('humanClicked', m.human_clicked_at))
      as times (name, at)
  where times.at is not null group by 1, 2, 3, 4, 5
) counted group by 1, 2, 3, 4;
