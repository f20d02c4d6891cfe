import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

/** A Temporal workflow whose task fails again and again, so that it does not continue. */
export interface StuckWorkflow {
  runId: string;
  workflowId: string;
  workflowType: string;
  /** The last failure, shortened. */
  failure: string;
  /** How often the task has been tried. */
  attempts: number;
  since: Date;
}

const FAILURE_LENGTH = 1_000;

const write = statement(
  'stuck-write',
  `insert into stuck_workflows (run_id, workflow_id, workflow_type, failure, failures)
   values ($1, $2, $3, $4, $5)
   on conflict (run_id) do update set failures = excluded.failures, last_failed_at = now(),
     failure = coalesce(nullif(excluded.failure, ''), stuck_workflows.failure)`,
);
const remove = statement('stuck-remove', 'delete from stuck_workflows where run_id = any ($1::text[])');
const list = statement<StuckWorkflow & { count: number }>(
  'stuck-list',
  `select run_id, workflow_id, workflow_type, failure,
     failures as attempts, first_failed_at as since, (count(*) over ())::integer as count
   from stuck_workflows order by first_failed_at, run_id limit $1`,
);

export type SeenStuckWorkflow = Omit<StuckWorkflow, 'since'>;

export async function recordStuckWorkflow(db: Db, stuck: SeenStuckWorkflow): Promise<void> {
  const failure = stuck.failure.replaceAll('\0', '').slice(0, FAILURE_LENGTH);
  await write(db, [stuck.runId, stuck.workflowId, stuck.workflowType, failure, stuck.attempts]);
}

/** For workflows that continue or have ended. */
export const forgetStuckWorkflows = (db: Db, runIds: string[]): Promise<unknown> => remove(db, [runIds]);

/** Lists stuck workflows, the oldest first, at most `limit` of them, and counts all. */
export async function listStuckWorkflows(
  db: Db,
  limit?: number,
): Promise<{ count: number; workflows: StuckWorkflow[] }> {
  const rows = await list(db, [limit ?? null]);
  return { count: rows[0]?.count ?? 0, workflows: rows.map(({ count: _count, ...workflow }) => workflow) };
}
