import { type Db, inTransaction } from '../../../db/connect.ts';
import { WorkflowMove } from '../../../db/models/workflow.ts';
import { retryDeadlocks } from '../../../db/retry.ts';
import { statement } from '../../../db/statement.ts';
import type { SigningKeys } from '../../../platform/crypto/signed-token.ts';
import { faultPoint } from '../../../platform/fault-points.ts';
import { type MoveTarget, moveExecutions, waysTo } from '../executions/move.ts';
import { storedGraph } from '../versions.ts';

// Moves active executions to a published version, in sets. The row of `workflow_moves` remembers how far it got: it is
// written with the version, and housekeeping continues where a process died.

const SET = 1_000;

const take = statement<{ projectId: string; lastId: string }>(
  'workflow-moves-take',
  `select project_id, last_id from workflow_moves
   where workflow_id = $1 and version = $2 and finished_at is null for update`,
);

const advanceMove = statement(
  'workflow-moves-advance',
  `update workflow_moves set last_id = coalesce($3, last_id), moved = moved + $4,
     finished_at = case when $5 then now() end
   where workflow_id = $1 and version = $2`,
);

/** Moves the next set. Returns whether there may be more. */
const moveNextSet = (db: Db, keys: SigningKeys, workflowId: string, version: number): Promise<boolean> =>
  retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const [move] = await take(trx, [workflowId, version]);
      if (!move) return false;
      const target = { projectId: move.projectId, workflowId, version };
      const graph = await storedGraph(trx, workflowId, version);
      const ways = graph ? await waysTo(trx, keys, target, graph) : [];
      const set = await moveExecutions(trx, target, ways, { after: move.lastId, limit: SET });
      const isLast = set.seen < SET;
      await advanceMove(trx, [workflowId, version, set.lastId, set.moved.length, isLast]);
      return !isLast;
    }),
  );

/** Moves all sets. Returns how many executions were moved, by this process or another one. */
export async function finishMoves(
  db: Db,
  keys: SigningKeys,
  { projectId, workflowId, version }: MoveTarget,
): Promise<number> {
  for (let isMore = true; isMore; ) {
    isMore = await moveNextSet(db, keys, workflowId, version);
    faultPoint('publish-set-moved');
  }
  const row = await WorkflowMove.query(db).findOne({ projectId, workflowId, version });
  return row?.moved ?? 0;
}

/** Housekeeping: continues moves whose process died. */
export async function continueMoves(db: Db, keys: SigningKeys): Promise<number> {
  const open = await WorkflowMove.query(db).whereNull('finishedAt').limit(100);
  for (const target of open) await finishMoves(db, keys, target);
  return open.length;
}
