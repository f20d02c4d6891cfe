import { type Db, inTransaction } from '../../../db/connect.ts';
import { statement } from '../../../db/statement.ts';
import type { ProjectAccess } from '../../access/keys.ts';
import { requireOpenProject } from '../../access/open-project.ts';
import { changesOf, recordAudit } from '../../audit/record.ts';
import { countMoved } from '../counts.ts';
import { lockWorkflow } from '../find.ts';
import { storedGraph } from '../versions.ts';

export interface Migration {
  /** At most a thousand of each. */
  moved: string[];
  stayed: { id: string; reason: string }[];
  movedCount: number;
  stayedCount: number;
}

const MAX_IDS = 1_000;

// The current step stays the same; the next one comes from the graph of the new version.
const moveExecutions = statement<{ count: number; ids: string[] | null }>(
  'executions-migrate',
  `with moved as (
     update executions e set version = $2, updated_at = now()
     from (
       select id, version, current_step_id from executions
       where workflow_id = $1 and status in ('RUNNING', 'WAITING') and version <> $2
         and (current_step_id is null or current_step_id = any ($3::uuid[]))
       order by id for update) old
     where e.id = old.id
     returning e.id, old.version, old.current_step_id
   ),
   ${countMoved('$5::uuid', '$1', '$2')}
   select count(*)::integer as count, (array_agg(id order by id))[1:$4] as ids from moved`,
);

const findStayed = statement<{ count: number; ids: string[] | null }>(
  'executions-migrate-stayed',
  `select count(*)::integer as count, (array_agg(id order by id))[1:$3] as ids from executions
   where workflow_id = $1 and status in ('RUNNING', 'WAITING') and version <> $2`,
);

/** Moves active executions to the newest valid version if it still has their current step. */
export async function migrateExecutions(db: Db, project: ProjectAccess, workflowId: string): Promise<Migration> {
  return inTransaction(db, async (trx) => {
    await requireOpenProject(trx, project);
    const { validVersion } = await lockWorkflow(trx, project.projectId, workflowId);
    const graph = validVersion === null ? undefined : await storedGraph(trx, workflowId, validVersion);
    if (!graph) return { moved: [], ...(await stayed(trx, workflowId, -1, 'the workflow has no valid version')) };
    const steps = graph.steps.map(({ id }) => id);
    const [row] = await moveExecutions(trx, [workflowId, validVersion, steps, MAX_IDS, project.projectId]);
    await recordAudit(trx, project, {
      action: 'workflow.executions_migrated',
      target: { type: 'workflow', id: workflowId },
      changes: changesOf({}, { executions: row?.count ?? 0, version: validVersion }),
    });
    return {
      ...(await stayed(trx, workflowId, validVersion, 'its current step is not in the newest version')),
      moved: row?.ids ?? [],
      movedCount: row?.count ?? 0,
    };
  });
}

async function stayed(trx: Db, workflowId: string, version: number | null, reason: string) {
  const [row] = await findStayed(trx, [workflowId, version, MAX_IDS]);
  return { stayed: (row?.ids ?? []).map((id) => ({ id, reason })), stayedCount: row?.count ?? 0, movedCount: 0 };
}
