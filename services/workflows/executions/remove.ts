import type { Db } from '../../../db/connect.ts';

const CHUNK = 1_000;

const removeChunk = `
  with deleted as (
    delete from executions where id in (select id from executions where workflow_id = ? limit ?) returning id
  ), steps as (
    delete from execution_steps s using deleted where s.execution_id = deleted.id
  )
  select count(*)::integer as count from deleted`;

/** Deletes executions of deleted workflows in chunks. Keeps their mail and events. */
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
