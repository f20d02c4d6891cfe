import type { Db } from '../../../db/connect.ts';

const CHUNK = 1_000;

const removeChunk = `
  with deleted as (
    delete from executions where id in (select id from executions where workflow_id = ? limit ?)
    returning id, project_id, status, started_at, completed_at
  ), steps as (
    delete from execution_steps s using deleted where s.execution_id = deleted.id
  ), hours as (
    insert into removed_execution_hours as h (project_id, hour, started, completed)
    select project_id, date_trunc('hour', at, 'UTC') as hour, sum(started), sum(completed)
    from (
      select project_id, started_at as at, 1 as started, 0 as completed from deleted
      union all
      select project_id, completed_at, 0, 1 from deleted
      where status in ('COMPLETED', 'EXITED') and completed_at is not null
    ) counted
    group by 1, 2 order by 1, 2
    on conflict (project_id, hour) do update set
      started = h.started + excluded.started, completed = h.completed + excluded.completed
  )
  select count(*)::integer as count from deleted`;

/** Deletes executions of deleted workflows in chunks. Keeps their mail, their events and their part of the statistics. */
export async function deleteLeftoverExecutions(db: Db): Promise<number> {
  const removals = await db('workflowRemovals').select<{ workflowId: string }[]>('workflowId').limit(10);
  let removed = 0;
  for (const { workflowId } of removals) {
    const { rows } = await db.raw(removeChunk, [workflowId, CHUNK]);
    removed += rows[0].count;
    if (rows[0].count < CHUNK) await db('workflowRemovals').where({ workflowId }).del();
  }
  return removed;
}
