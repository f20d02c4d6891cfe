import type { Db } from '../../../db/connect.ts';
import { statement } from '../../../db/statement.ts';
import type { SigningKeys } from '../../../platform/crypto/signed-token.ts';
import type { ProjectAccess } from '../../access/keys.ts';
import { writing } from '../../access/write-transaction.ts';
import { changesOf, recordAudit } from '../../audit/record.ts';
import { lockWorkflow } from '../find.ts';
import type { Graph } from '../graph.ts';
import { storedGraph } from '../versions.ts';
import { moveExecutions, refusalOfMove, waysTo } from './move.ts';

export interface Migration {
  /** At most a thousand of each. */
  moved: string[];
  stayed: { id: string; reason: string }[];
  movedCount: number;
  stayedCount: number;
}

const MAX_IDS = 1_000;
const ALL = { after: '00000000-0000-0000-0000-000000000000', limit: 2_147_483_647 };

const findStayed = statement<{ id: string; version: number; stepId: string | null; count: number }>(
  'executions-migrate-stayed',
  `select id, version, current_step_id as step_id, count(*) over ()::integer as count from executions
   where project_id = $1 and workflow_id = $2 and status in ('RUNNING', 'WAITING') and version <> $3
   order by id limit $4`,
);

/** Moves active executions to the newest valid version if it still has their current step, with the same type. */
export async function migrateExecutions(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  keys: SigningKeys,
): Promise<Migration> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    const { validVersion: version } = await lockWorkflow(trx, projectId, workflowId);
    const graph = version === null ? undefined : await storedGraph(trx, workflowId, version);
    if (!graph || version === null)
      return { moved: [], movedCount: 0, ...(await stayedOn(trx, projectId, workflowId, -1, undefined)) };
    const target = { projectId, workflowId, version };
    const { moved } = await moveExecutions(trx, target, await waysTo(trx, keys, target, graph), ALL);
    await recordAudit(trx, project, {
      action: 'workflow.executions_migrated',
      target: { type: 'workflow', id: workflowId },
      changes: changesOf({}, { executions: moved.length, version }),
    });
    return {
      ...(await stayedOn(trx, projectId, workflowId, version, graph)),
      moved: moved.slice(0, MAX_IDS),
      movedCount: moved.length,
    };
  });
}

async function stayedOn(trx: Db, projectId: string, workflowId: string, version: number, to: Graph | undefined) {
  const rows = await findStayed(trx, [projectId, workflowId, version, MAX_IDS]);
  const stayed: Migration['stayed'] = [];
  for (const { id, version: own, stepId } of rows) {
    const refusal = to && refusalOfMove(await storedGraph(trx, workflowId, own), to, stepId);
    stayed.push({ id, reason: refusal ?? 'the workflow has no valid version' });
  }
  return { stayed, stayedCount: rows[0]?.count ?? 0 };
}
