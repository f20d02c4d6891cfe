// Workflows and executions as they are stored: for states that only Temporal leads to, and for large numbers.
import type { Db } from '../../../db/connect.ts';
import { newId } from '../../../platform/ids.ts';
import type { Graph } from '../../../services/workflows/graph.ts';

export const storedExecutions = (db: Db, where: object) => db('executions').where(where).orderBy('id');

export const setExecutions = (db: Db, where: object, columns: object) => db('executions').where(where).update(columns);

export const addExecutions = (db: Db, rows: object | object[]) => db('executions').insert(rows);

export const storedVisits = (db: Db, where: object) => db('executionSteps').where(where).orderBy('visit');

export const addVisits = (db: Db, rows: object | object[]) => db('executionSteps').insert(rows);

export const setVisits = (db: Db, where: object, columns: object) => db('executionSteps').where(where).update(columns);

export const storedWorkflows = (db: Db, where: object) => db('workflows').where(where).orderBy('id');

export const setWorkflow = (db: Db, id: string, columns: object) => db('workflows').where({ id }).update(columns);

/** Removes the row only, as the first step of a deletion does. */
export const removeWorkflow = (db: Db, id: string) => db('workflows').where({ id }).del();

export const addWorkflowRow = (db: Db, columns: object) => db('workflows').insert(columns);

export const storedVersions = (db: Db, workflowId: string) =>
  db('workflowVersions').where({ workflowId }).orderBy('version');

export const addVersion = (
  db: Db,
  { workflowId, version, graph: { steps, transitions } }: { workflowId: string; version: number; graph: Graph },
) => {
  const graph = { steps, transitions: transitions.map((transition) => ({ id: newId(), ...transition })) };
  return db('workflowVersions').insert({ workflowId, version, graph: JSON.stringify(graph) });
};

export const setVersions = (db: Db, where: object, columns: object) =>
  db('workflowVersions').where(where).update(columns);

/** The moves of executions to a newly published version. */
export const storedMoves = (db: Db, where: object) => db('workflowMoves').where(where);

export const addMove = (db: Db, columns: object) => db('workflowMoves').insert(columns);

/** Inserts published versions without steps, and makes the last of them the current one. */
export async function addPublishedVersions(
  db: Db,
  workflowId: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await db.raw(
    `insert into workflow_versions (workflow_id, version, graph, published_at)
     select ?, n, '{"steps": [], "transitions": []}', now() from generate_series(?::integer, ?::integer) as n`,
    [workflowId, from, to],
  );
  await setWorkflow(db, workflowId, { version: to });
}

/** Inserts copies of an execution, each of another contact. */
export const copyExecution = (db: Db, id: string, count: number) =>
  db.raw(
    `insert into executions (id, project_id, workflow_id, version, contact_id, status, current_step_id, after_position,
       once_per_contact, error, completed_at)
     select gen_random_uuid(), project_id, workflow_id, version, gen_random_uuid(), status, current_step_id,
       after_position, true, error, completed_at
     from executions, generate_series(1, ?) where id = ?`,
    [count, id],
  );

/** As text, because column names inside are not ours to convert. */
export const storedDraft = async (db: Db, workflowId: string): Promise<string> =>
  (await db.raw('select graph::text as graph from workflow_drafts where workflow_id = ?', [workflowId])).rows[0].graph;

/** Inserts executions of version 1 that have ended. */
export const addCompletedExecutions = (db: Db, projectId: string, workflowId: string, count: number) =>
  db.raw(
    `insert into executions (id, project_id, workflow_id, version, contact_id, status, after_position, once_per_contact)
     select uuidv7(), ?, ?, 1, gen_random_uuid(), 'COMPLETED', 0, false from generate_series(1, ?::integer)`,
    [projectId, workflowId, count],
  );

/** Configs and requests of all steps, wherever they are stored, as one text. */
export const storedConfigs = async (db: Db): Promise<string> => {
  const { rows } = await db.raw(
    `select (select jsonb_agg(graph) from workflow_versions) as versions,
       (select jsonb_agg(s) from execution_steps s) as visits`,
  );
  return JSON.stringify(rows);
};
