import { isDeepStrictEqual } from 'node:util';
import { type Db, wake } from '../../../db/connect.ts';
import { statement } from '../../../db/statement.ts';
import type { SigningKeys } from '../../../platform/crypto/signed-token.ts';
import { signalNames } from '../../outbox/signals.ts';
import { countMoved } from '../counts.ts';
import type { Graph } from '../graph.ts';
import { showStep } from '../sealed-headers.ts';
import { storedGraph } from '../versions.ts';
import { findStep } from '../walk.ts';

// Moves active executions to another version. Both doors, publishing and `executions/migrate`, use what is here.

/** Where active executions are. */
export interface ActiveGroup {
  version: number;
  /** Null before the first step. */
  stepId: string | null;
  count: number;
}

const findActive = statement<{ version: number; stepId: string | null; count: number }>(
  'executions-active',
  `select version, current_step_id as step_id, count(*)::integer as count from executions
   where project_id = $1 and workflow_id = $2 and status in ('RUNNING', 'WAITING')
   group by version, current_step_id order by version, current_step_id`,
);

export async function activeGroups(db: Db, projectId: string, workflowId: string): Promise<ActiveGroup[]> {
  const rows = await findActive(db, [projectId, workflowId]);
  return rows.map(({ version, stepId, count }) => ({ version, stepId, count }));
}

/** Returns why an execution at a step of an older graph cannot go on in the new one, or undefined when it can. */
export function refusalOfMove(from: Graph | undefined, to: Graph, stepId: string | null): string | undefined {
  if (stepId === null) return undefined;
  const step = findStep(to, stepId);
  if (!step) return 'the step is not in the new version';
  const before = from && findStep(from, stepId);
  if (before && before.type !== step.type) return `the step is a ${step.type} in the new version, not a ${before.type}`;
  return undefined;
}

/** Returns the keys of a step's config that differ. Headers are compared as they are when they are opened. */
export function changedKeys(
  keys: SigningKeys,
  projectId: string,
  [from, to]: [from: Graph | undefined, to: Graph],
  stepId: string,
): string[] {
  const configIn = (graph: Graph | undefined): Record<string, unknown> => {
    const step = graph && findStep(graph, stepId);
    return step ? showStep(keys, projectId, step).config : {};
  };
  const before = configIn(from);
  const after = configIn(to);
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !isDeepStrictEqual(before[key], after[key]),
  );
}

/** A step of an older version that executions can move from. */
interface Way {
  version: number;
  stepId: string;
  /** Its config differs in the new version. */
  changed: boolean;
}

/** Returns the steps of the versions in use from which executions can move. */
export async function waysTo(
  trx: Db,
  keys: SigningKeys,
  { projectId, workflowId, version }: MoveTarget,
  to: Graph,
): Promise<Way[]> {
  const ways: Way[] = [];
  const groups = await activeGroups(trx, projectId, workflowId);
  for (const older of new Set(groups.map((group) => group.version).filter((used) => used < version))) {
    const from = await storedGraph(trx, workflowId, older);
    for (const { id } of from?.steps ?? [])
      if (refusalOfMove(from, to, id) === undefined)
        ways.push({
          version: older,
          stepId: id,
          changed: changedKeys(keys, projectId, [from, to], id).length > 0,
        });
  }
  return ways;
}

/** The version that executions move to. */
export interface MoveTarget {
  projectId: string;
  workflowId: string;
  version: number;
}

// A WAITING execution whose step has changed is RUNNING again with its old wake-up time and event, which `advance`
// replaces by those of the new config. The signal makes it do so now.
const moveSet = statement<{ seen: number; lastId: string | null; moved: string[] | null; calling: string[] | null }>(
  'executions-move',
  `with page as materialized (
     select id, version, current_step_id, status from executions
     where project_id = $1 and workflow_id = $2 and status in ('RUNNING', 'WAITING') and id > $7
     order by id limit $8 for update
   ),
   moved as (
     update executions e set version = $3, updated_at = now(), status = case when way.changed then 'RUNNING' else e.status end
     from page left join unnest($4::integer[], $5::uuid[], $6::boolean[]) as way (version, step_id, changed)
       on way.version = page.version and way.step_id = page.current_step_id
     where e.id = page.id and page.version < $3 and (page.current_step_id is null or way.step_id is not null)
     returning e.id, e.generation, page.version, page.current_step_id, page.status, way.changed
   ),
   message as (
     insert into outbox (queue, project_id, workflow_id, action, payload)
     select 'control', $1, workflow_id('execution', $1::text, id::text, generation::text), 'signal',
       '${JSON.stringify({ signal: signalNames.refresh })}'::jsonb
     from moved where changed and status = 'WAITING'
   ),
   ${countMoved('$1', '$2', '$3')}
   select (select count(*)::integer from page) as seen, (select id from page order by id desc limit 1) as last_id,
     (select array_agg(id order by id) from moved) as moved,
     (select array_agg(id) from moved where changed and status = 'RUNNING') as calling`,
);

// A separate statement: it sees the requests of steps that the move has waited for.
const outdateRequests = statement(
  'executions-move-requests',
  `update execution_steps s set request = s.request || '{"outdated": true}'
   from executions e
   where e.project_id = $1 and e.id = any ($2::uuid[]) and s.execution_id = e.id and s.visit = e.visit
     and s.status = 'RUNNING' and s.request is not null`,
);

export interface MovedSet {
  /** Ids of those that were moved. */
  moved: string[];
  /** How many were looked at, and the last of them. */
  seen: number;
  lastId: string | null;
}

/** Moves the executions of a page, by id. Those whose present step has changed go on with its new config. */
export async function moveExecutions(
  trx: Db,
  { projectId, workflowId, version }: MoveTarget,
  ways: Way[],
  page: { after: string; limit: number },
): Promise<MovedSet> {
  const [set] = await moveSet(trx, [
    projectId,
    workflowId,
    version,
    ways.map((way) => way.version),
    ways.map((way) => way.stepId),
    ways.map((way) => way.changed),
    page.after,
    page.limit,
  ]);
  if (set?.calling) await outdateRequests(trx, [projectId, set.calling]);
  wake(trx, 'control');
  return { moved: set?.moved ?? [], seen: set?.seen ?? 0, lastId: set?.lastId ?? null };
}
