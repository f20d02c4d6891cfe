import type { Db } from '../../../db/connect.ts';
import { WorkflowRemoval } from '../../../db/models/workflow.ts';
import { statement } from '../../../db/statement.ts';

const CHUNK = 1_000;

const removeChunk = statement<{ count: number }>(
  'executions-remove',
  `with deleted as (
    delete from executions where id in (select id from executions where workflow_id = $1 limit $2)
    returning id, project_id, status, started_at, completed_at
  ), steps as (
    delete from execution_steps s using deleted where s.execution_id = deleted.id
  ), counted as (
    insert into counter_deltas (project_id, subject, period, counts)
    select project_id, 'activity/hours', date_trunc('hour', at, 'UTC'), jsonb_build_object(name, count(*))
    from deleted, lateral (values ('startedRemoved', started_at),
      ('completedRemoved', case when status in ('COMPLETED', 'EXITED') then completed_at end)) as times (name, at)
    where at is not null group by 1, 3, name
  )
  select count(*)::integer as count from deleted`,
);

/** Deletes executions of deleted workflows in chunks. Keeps their mail, their events and their part of the statistics. */
export async function deleteLeftoverExecutions(db: Db): Promise<number> {
  let removed = 0;
  for (const { workflowId } of await WorkflowRemoval.query(db).limit(10)) {
    const [{ count } = { count: 0 }] = await removeChunk(db, [workflowId, CHUNK]);
    removed += count;
    if (count < CHUNK) await WorkflowRemoval.query(db).deleteById(workflowId);
  }
  return removed;
}
