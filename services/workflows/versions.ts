import type { Db } from '../../db/connect.ts';
import { Workflow, WorkflowVersion } from '../../db/models/workflow.ts';
import { badRequest } from '../../platform/errors.ts';
import { asGraph, type EditedGraph, editedGraph } from './find.ts';
import type { Graph } from './graph.ts';
import { stepTypes } from './steps/index.ts';
import { graphViolations } from './violations.ts';

/** Every edit stores the whole graph, and every step of an execution reads it. */
const MAX_GRAPH_BYTES = 5 * 1024 * 1024;

/** After an edit of the graph, in its transaction: new executions start on what has come of it, once that is valid. */
export async function saveVersion(trx: Db, workflow: Workflow): Promise<Workflow> {
  const graph = asGraph(await editedGraph(trx, workflow.id));
  if (Buffer.byteLength(JSON.stringify(graph)) > MAX_GRAPH_BYTES)
    throw badRequest(`The steps of a workflow may have ${MAX_GRAPH_BYTES} bytes together.`);
  const faults = await graphViolations(trx, workflow.projectId, graph);
  const version = workflow.version + 1;
  await insertVersion(trx, workflow.id, version, graph);
  const saved = await Workflow.query(trx).patchAndFetchById(workflow.id, {
    version,
    validVersion: faults.length === 0 ? version : workflow.validVersion,
    updatedAt: new Date(),
  });
  await removeUnusedVersions(trx, workflow.id);
  return saved;
}

/** The first version of a workflow, with what it begins with. */
export async function firstVersion(trx: Db, { id, version }: Workflow, graph: EditedGraph): Promise<void> {
  await insertVersion(trx, id, version, asGraph(graph));
}

async function insertVersion(trx: Db, workflowId: string, version: number, graph: Graph): Promise<void> {
  await WorkflowVersion.query(trx).insert({
    workflowId,
    version,
    graph: { ...graph },
    templateIds: [...new Set(graph.steps.flatMap((step) => stepTypes[step.type].uses?.(step).templates ?? []))],
  });
}

const IN_USE = `v.version in (w.version, w.valid_version) or exists (
  select 1 from executions e where e.workflow_id = v.workflow_id and e.version = v.version
    and e.status in ('RUNNING', 'WAITING', 'FAILED'))`;

/**
 * What nobody is on and nobody can start any more. The workflow's row is locked, as by whoever starts an execution, so
 * that none is taken away from under a start.
 */
export async function removeUnusedVersions(trx: Db, workflowId: string): Promise<void> {
  await trx.raw(
    `delete from workflow_versions v using workflows w
     where v.workflow_id = ? and w.id = v.workflow_id and not (${IN_USE})`,
    [workflowId],
  );
}

/** The same where executions have ended since the last edit. Answers how many workflows were looked at. */
export async function sweepVersions(db: Db, limit = 100): Promise<number> {
  const { rows } = await db.raw(
    `select distinct w.id from workflow_versions v join workflows w on w.id = v.workflow_id
     where not (${IN_USE}) limit ?`,
    [limit],
  );
  for (const { id } of rows as { id: string }[])
    await db.transaction(async (trx) => {
      const locked = await Workflow.query(trx).findById(id).forUpdate();
      if (locked) await removeUnusedVersions(trx, id);
    });
  return rows.length;
}
