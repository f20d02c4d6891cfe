-- Numbers of workflows and of their steps. See docs/decisions/counts.md.

-- Counts by day of UTC. step_id is nil for those of the workflow itself. Names: started, completed, exited, failed,
-- cancelled (of executions); entered, left, passed, failed, skipped (of steps); moved_in, moved_out (to another version);
-- branch:<name>, time:<bucket>, mail:<result>.
create table workflow_counts (
  project_id uuid not null,
  workflow_id uuid not null references workflows on delete cascade,
  version integer not null,
  step_id uuid not null,
  day date not null,
  name text not null,
  count bigint not null,
  primary key (workflow_id, version, step_id, day, name)
);

-- Changes that workflow_counts does not include yet. Append-only, so that writers never wait for one another.
create table workflow_count_deltas (
  project_id uuid not null,
  workflow_id uuid not null,
  version integer not null,
  step_id uuid not null,
  day date not null,
  names text[] not null,
  delta integer not null
);
create index workflow_count_deltas_workflow on workflow_count_deltas (workflow_id);

-- What happened before.
insert into workflow_counts (project_id, workflow_id, version, step_id, day, name, count)
select e.project_id, e.workflow_id, e.version, '00000000-0000-0000-0000-000000000000'::uuid,
  (counted.at at time zone 'UTC')::date, counted.name, count(*)
from executions e join workflows w on w.id = e.workflow_id,
  lateral (values ('started', e.started_at), (lower(e.status), e.completed_at)) as counted (name, at)
where counted.at is not null and (counted.name = 'started' or e.status not in ('RUNNING', 'WAITING'))
group by 1, 2, 3, 4, 5, 6;

insert into workflow_counts (project_id, workflow_id, version, step_id, day, name, count)
select e.project_id, e.workflow_id, e.version, s.step_id, (counted.at at time zone 'UTC')::date, counted.name,
  count(*)
from execution_steps s join executions e on e.id = s.execution_id join workflows w on w.id = e.workflow_id,
  lateral (values ('entered', s.started_at), ('left', s.completed_at),
    (case s.status when 'COMPLETED' then 'passed' when 'SKIPPED' then 'skipped' when 'FAILED' then 'failed' end,
      s.completed_at),
    ('branch:' || s.branch, s.completed_at)) as counted (name, at)
where counted.name is not null and counted.at is not null
group by 1, 2, 3, 4, 5, 6;
