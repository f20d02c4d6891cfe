import { type Db, inTransaction } from '../../../db/connect.ts';
import { statement } from '../../../db/statement.ts';
import type { ProjectAccess } from '../../access/keys.ts';
import { requireOpenProject } from '../../access/open-project.ts';
import { lockWorkflow } from '../find.ts';
import { storedGraph } from '../stored-graph.ts';

export interface Migration {
  /** The first thousand of each. */
  moved: string[];
  stayed: { id: string; reason: string }[];
  movedCount: number;
  stayedCount: number;
}

const NAMED = 1_000;

// Where an execution is in its way does not change: the next step is looked for in the graph of its version.
const move = statement<{ count: number; ids: string[] | null }>(
  'executions-migrate',
  `with moved as (
     update executions set version = $2, updated_at = now()
     where id in (
       select id from executions where workflow_id = $1 and status in ('RUNNING', 'WAITING') and version <> $2
         and (current_step_id is null or current_step_id = any ($3::uuid[]))
       order by id for update)
     returning id
   )
   select count(*)::integer as count, (array_agg(id order by id))[1:$4] as ids from moved`,
);

const stay = statement<{ count: number; ids: string[] | null }>(
  'executions-migrate-stayed',
  `select count(*)::integer as count, (array_agg(id order by id))[1:$3] as ids from executions
   where workflow_id = $1 and status in ('RUNNING', 'WAITING') and version <> $2`,
);

/** Moves active executions to the newest valid version of the graph, wherever their current step is still in it. */
export async function migrateExecutions(db: Db, project: ProjectAccess, workflowId: string): Promise<Migration> {
  return inTransaction(db, async (trx) => {
    await requireOpenProject(trx, project);
    const { validVersion } = await lockWorkflow(trx, project.projectId, workflowId);
    const graph = validVersion === null ? undefined : await storedGraph(trx, workflowId, validVersion);
    if (!graph) return { moved: [], ...(await stayed(trx, workflowId, -1, 'the workflow has no valid version')) };
    const steps = graph.steps.map(({ id }) => id);
    const [row] = await move(trx, [workflowId, validVersion, steps, NAMED]);
    return {
      ...(await stayed(trx, workflowId, validVersion, 'its current step is not in the newest version')),
      moved: row?.ids ?? [],
      movedCount: row?.count ?? 0,
    };
  });
}

async function stayed(trx: Db, workflowId: string, version: number | null, reason: string) {
  const [row] = await stay(trx, [workflowId, version, NAMED]);
  return { stayed: (row?.ids ?? []).map((id) => ({ id, reason })), stayedCount: row?.count ?? 0, movedCount: 0 };
}
