import { type Db, inTransaction } from '../../../db/connect.ts';
import { retryDeadlocks } from '../../../db/retry.ts';
import { statement } from '../../../db/statement.ts';
import { faultPoint } from '../../../platform/fault-points.ts';
import { countMoved } from '../counts.ts';
import type { Graph } from '../graph.ts';
import { storedGraph } from '../versions.ts';
import { findStep } from '../walk.ts';

// Moves active executions to a published version, in sets. The row of `workflow_moves` remembers how far it got: it is
// written with the version, and housekeeping continues where a process died.

/** Where active executions are. */
export interface ActiveGroup {
  version: number;
  /** Null before the first step. */
  stepId: string | null;
  count: number;
}

const findActive = statement<{ version: number; step_id: string | null; count: number }>(
  'workflow-moves-active',
  `select version, current_step_id as step_id, count(*)::integer as count from executions
   where project_id = $1 and workflow_id = $2 and status in ('RUNNING', 'WAITING')
   group by version, current_step_id order by version, current_step_id`,
);

export async function activeGroups(db: Db, projectId: string, workflowId: string): Promise<ActiveGroup[]> {
  const rows = await findActive(db, [projectId, workflowId]);
  return rows.map(({ version, step_id, count }) => ({ version, stepId: step_id, count }));
}

/** Returns why an execution at a step of an older graph cannot go on in the new one, or undefined when it can. */
export function refusalOfMove(from: Graph | undefined, to: Graph, stepId: string | null): string | undefined {
  if (stepId === null) return undefined;
  const step = findStep(to, stepId);
  if (!step) return 'the step is not in the new version';
  const before = from && findStep(from, stepId);
  if (before && before.type !== step.type) return `the step is a ${step.type} in the new version, no ${before.type}`;
  return undefined;
}

const SET = 1_000;

const take = statement<{ project_id: string; last_id: string }>(
  'workflow-moves-take',
  `select project_id, last_id from workflow_moves
   where workflow_id = $1 and version = $2 and finished_at is null for update`,
);

// $4 and $5 are the versions and steps from which an execution can move.
const moveSet = statement<{ seen: number; last_id: string | null; moved: number }>(
  'workflow-moves-set',
  `with page as materialized (
     select id, version, current_step_id from executions
     where project_id = $1 and workflow_id = $2 and status in ('RUNNING', 'WAITING') and id > $6
     order by id limit $7 for update
   ),
   moved as (
     update executions e set version = $3, updated_at = now() from page
     where e.id = page.id and page.version < $3
       and (page.current_step_id is null or exists (
         select 1 from unnest($4::integer[], $5::uuid[]) as way (version, step_id)
         where way.version = page.version and way.step_id = page.current_step_id))
     returning page.version, page.current_step_id
   ),
   ${countMoved('$1', '$2', '$3')}
   select (select count(*)::integer from page) as seen, (select id from page order by id desc limit 1) as last_id,
     (select count(*)::integer from moved) as moved`,
);

const advanceMove = statement(
  'workflow-moves-advance',
  `update workflow_moves set last_id = coalesce($3, last_id), moved = moved + $4,
     finished_at = case when $5 then now() end
   where workflow_id = $1 and version = $2`,
);

/** Moves the next set. Returns whether there may be more. */
const moveNextSet = (db: Db, workflowId: string, version: number): Promise<boolean> =>
  retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const [move] = await take(trx, [workflowId, version]);
      if (!move) return false;
      const { project_id: projectId, last_id: lastId } = move;
      const ways = await movableFrom(trx, projectId, workflowId, version);
      const [set] = await moveSet(trx, [
        ...[projectId, workflowId, version, ways.map((way) => way.version), ways.map((way) => way.stepId)],
        ...[lastId, SET],
      ]);
      const isLast = (set?.seen ?? 0) < SET;
      await advanceMove(trx, [workflowId, version, set?.last_id, set?.moved ?? 0, isLast]);
      return !isLast;
    }),
  );

/** Returns the versions and steps of active executions that can go on in the new version. */
async function movableFrom(trx: Db, projectId: string, workflowId: string, version: number): Promise<ActiveGroup[]> {
  const to = await storedGraph(trx, workflowId, version);
  if (!to) return [];
  const movable: ActiveGroup[] = [];
  for (const group of await activeGroups(trx, projectId, workflowId)) {
    if (group.version >= version || group.stepId === null) continue;
    const from = await storedGraph(trx, workflowId, group.version);
    for (const { id } of from?.steps ?? [])
      if (refusalOfMove(from, to, id) === undefined) movable.push({ ...group, stepId: id });
  }
  const seen = new Set<string>();
  return movable.filter(({ version: from, stepId }) => {
    const key = `${from} ${stepId}`;
    return !seen.has(key) && seen.add(key);
  });
}

/** Moves all sets. Returns how many executions were moved, by this process or another one. */
export async function finishMoves(db: Db, projectId: string, workflowId: string, version: number): Promise<number> {
  for (let isMore = true; isMore; ) {
    isMore = await moveNextSet(db, workflowId, version);
    faultPoint('publish-set-moved');
  }
  const row = await db('workflowMoves')
    .where({ projectId, workflowId, version })
    .first<{ moved: number } | undefined>('moved');
  return row?.moved ?? 0;
}

/** Housekeeping: continues moves whose process died. */
export async function continueMoves(db: Db): Promise<number> {
  const open = await db('workflowMoves')
    .whereNull('finishedAt')
    .select<{ projectId: string; workflowId: string; version: number }[]>('projectId', 'workflowId', 'version')
    .limit(100);
  for (const { projectId, workflowId, version } of open) await finishMoves(db, projectId, workflowId, version);
  return open.length;
}
