import type { Db } from '../../../db/connect.ts';

const CHUNK = 1_000;

const removeChunk = `
  with gone as (
    delete from executions where id in (select id from executions where workflow_id = ? limit ?) returning id
  ), steps as (
    delete from execution_steps s using gone where s.execution_id = gone.id
  )
  select count(*)::integer as count from gone`;

/** What is left of deleted workflows, some at a time. Their mail and events stay. */
export async function removeLeftExecutions(db: Db): Promise<number> {
  const removals = await db('workflowRemovals').select<{ workflowId: string }[]>('workflowId').limit(10);
  let removed = 0;
  for (const { workflowId } of removals) {
    const { rows } = await db.raw(removeChunk, [workflowId, CHUNK]);
    removed += rows[0].count;
    if (rows[0].count < CHUNK) await db('workflowRemovals').where({ workflowId }).del();
  }
  return removed;
}
