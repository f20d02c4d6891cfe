-- Executions that were deleted with their workflow. `activity_hours` goes on counting them, for statistics; the feed, which
-- no longer lists them, subtracts them from its totals.
create table removed_execution_hours (
  project_id uuid not null,
  hour timestamptz not null,
  started bigint not null,
  completed bigint not null,
  primary key (project_id, hour)
);

-- Those that were deleted before: they were counted, and are not there.
insert into removed_execution_hours (project_id, hour, started, completed)
select project_id, hour, sum(started), sum(completed)
from (
  select project_id, hour, workflows_started as started, workflows_completed as completed from activity_hours
  union all
  select project_id, date_trunc('hour', at, 'UTC'), case kind when 'started' then delta else 0 end,
    case kind when 'completed' then delta else 0 end
  from activity_deltas where kind in ('started', 'completed')
  union all
  select project_id, date_trunc('hour', started_at, 'UTC'), -1, 0 from executions
  union all
  select project_id, date_trunc('hour', completed_at, 'UTC'), 0, -1 from executions
  where status in ('COMPLETED', 'EXITED') and completed_at is not null
) counted
group by project_id, hour
having sum(started) > 0 or sum(completed) > 0;
