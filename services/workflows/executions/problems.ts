import type { Db } from '../../../db/connect.ts';
import { statement } from '../../../db/statement.ts';

/** A step of a workflow where executions fail or are tried again after an error. */
export interface StepProblem {
  workflowId: string;
  workflowName: string;
  stepId: string;
  stepName: string;
  /** FAILED executions that have neither been retried nor removed. */
  failed: number;
  /** Executions whose step is tried again after an error. */
  retrying: number;
  /** The error of the newest of them. */
  error: string;
}

export interface StepProblems {
  problems: StepProblem[];
  /** There are more executions, or more steps, than were read. */
  truncated: boolean;
}

/** How many executions of each state are read, the newest first. */
const MAX_READ = 2_000;
const MAX_STEPS = 100;

// Only a WEBHOOK is tried again with an error: its visit is RUNNING and has one.
const list = statement<StepProblem & { read: number }>(
  'executions-problems',
  `with failed as materialized (
     select id, workflow_id, current_step_id, visit, error from executions
     where project_id = $1 and status = 'FAILED' and ($2::uuid is null or workflow_id = $2)
       and completed_at > now() - interval '30 days'
     order by id desc limit $3
   ),
   running as materialized (
     select id, workflow_id, current_step_id, visit from executions
     where project_id = $1 and status = 'RUNNING' and ($2::uuid is null or workflow_id = $2)
     order by id desc limit $3
   ),
   broken as (
     select f.id, f.workflow_id, f.current_step_id, f.visit, f.error, true as has_failed from failed f
     union all
     select r.id, r.workflow_id, r.current_step_id, r.visit, s.error, false from running r
     join execution_steps s on s.execution_id = r.id and s.visit = r.visit and s.project_id = $1
     where s.status = 'RUNNING' and s.error is not null
   ),
   steps as (
     select workflow_id, current_step_id as step_id, count(*) filter (where has_failed)::integer as failed,
       count(*) filter (where not has_failed)::integer as retrying,
       (array_agg(error order by id desc))[1] as error, (array_agg(id order by id desc))[1] as execution_id,
       (array_agg(visit order by id desc))[1] as visit
     from broken where current_step_id is not null group by workflow_id, current_step_id
   )
   select p.workflow_id, w.name as workflow_name, p.step_id, coalesce(v.name, '') as step_name, p.failed, p.retrying,
     coalesce(p.error, '') as error,
     greatest((select count(*) from failed), (select count(*) from running))::integer as read
   from steps p join workflows w on w.id = p.workflow_id and w.project_id = $1
   left join execution_steps v on v.execution_id = p.execution_id and v.visit = p.visit and v.project_id = $1
   order by p.failed + p.retrying desc, p.workflow_id, p.step_id limit $4`,
);

/** Lists the steps where executions fail or are tried again, those of most executions first. */
export async function listStepProblems(db: Db, projectId: string, workflowId?: string): Promise<StepProblems> {
  const rows = await list(db, [projectId, workflowId ?? null, MAX_READ, MAX_STEPS + 1]);
  return {
    problems: rows.slice(0, MAX_STEPS).map(({ read: _read, ...problem }) => problem),
    truncated: rows.length > MAX_STEPS || (rows[0]?.read ?? 0) >= MAX_READ,
  };
}
