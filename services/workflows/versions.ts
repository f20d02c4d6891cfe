import { LRUCache } from 'lru-cache';
import { type Db, inTransaction } from '../../db/connect.ts';
import { Workflow, WorkflowVersion } from '../../db/models/workflow.ts';
import { statement } from '../../db/statement.ts';
import { badRequest } from '../../platform/errors.ts';
import { workflowNotFound } from './find.ts';
import type { Graph, StoredGraph } from './graph.ts';
import { stepTypeOf } from './steps/index.ts';
import { graphViolations } from './violations.ts';

/** Limits the cost of an edit, which stores the whole graph, and of every step, which reads it. */
const MAX_GRAPH_BYTES = 5 * 1024 * 1024;

/**
 * Stores a graph as the newest version, in the transaction of the edit. New executions use it if it is valid. A draft that
 * was read before has an old revision from now on.
 */
export async function saveVersion(trx: Db, workflow: Workflow, graph: StoredGraph): Promise<Workflow> {
  requireGraphSize(graph);
  const violations = await graphViolations(trx, workflow.projectId, graph);
  const version = workflow.version + 1;
  await insertVersion(trx, { ...workflow, version } as Workflow, graph);
  const saved = await Workflow.query(trx).patchAndFetchById(workflow.id, {
    version,
    draftRevision: workflow.draftRevision + 1,
    validVersion: violations.length === 0 ? version : workflow.validVersion,
    updatedAt: new Date(),
  });
  await removeUnusedVersions(trx, workflow.id);
  return saved;
}

export function requireGraphSize(graph: Graph): void {
  if (Buffer.byteLength(JSON.stringify(graph)) > MAX_GRAPH_BYTES)
    throw badRequest(`The steps of a workflow must not exceed ${MAX_GRAPH_BYTES} bytes in total.`);
}

/** Stores the graph as the version of the workflow. `published` is given when a draft is published. */
export async function insertVersion(
  trx: Db,
  { id, version, triggerType, triggerConfig, allowReentry }: Workflow,
  graph: StoredGraph,
  published: { publishedAt: Date; publishedBy: string | null; note: string | null } | undefined = undefined,
): Promise<void> {
  await WorkflowVersion.query(trx).insert({
    workflowId: id,
    version,
    triggerType,
    triggerConfig,
    allowReentry,
    ...published,
    graph: { ...graph },
    templateIds: [...new Set(graph.steps.flatMap((step) => stepTypeOf(step).uses?.(step).templates ?? []))],
  });
}

const IN_USE = `v.version in (w.version, w.valid_version) or v.published_at is not null or exists (
  select 1 from workflow_drafts d where d.workflow_id = v.workflow_id and d.base_version = v.version) or exists (
  select 1 from executions e where e.workflow_id = v.workflow_id and e.version = v.version
    and e.status in ('RUNNING', 'WAITING', 'FAILED'))`;

const removeUnused = statement(
  'workflow-versions-remove-unused',
  `delete from workflow_versions v using workflows w
   where v.workflow_id = $1 and w.id = v.workflow_id and not (${IN_USE})`,
);

/**
 * Deletes versions that no execution is on and none can start on. The caller has locked the workflow's row, as a start of
 * an execution does, so no start can lose its version.
 */
export async function removeUnusedVersions(trx: Db, workflowId: string): Promise<void> {
  await removeUnused(trx, [workflowId]);
}

const withUnused = statement<{ id: string }>(
  'workflows-with-unused-versions',
  `select distinct w.id from workflow_versions v join workflows w on w.id = v.workflow_id
   where not (${IN_USE}) limit $1`,
);

/** Deletes versions whose executions have ended since the last edit. Returns the number of workflows checked. */
export async function deleteUnusedVersions(db: Db, limit = 100): Promise<number> {
  const workflows = await withUnused(db, [limit]);
  for (const { id } of workflows)
    await inTransaction(db, async (trx) => {
      const locked = await Workflow.query(trx).findById(id).forUpdate();
      if (locked) await removeUnusedVersions(trx, id);
    });
  return workflows.length;
}

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

// One statement, because an edit removes the version that was the newest before.
const findNewestGraph = statement<{ graph: StoredGraph; createdAt: Date }>(
  'workflow-newest-graph',
  `select v.graph, v.created_at from workflows w
   join workflow_versions v on v.workflow_id = w.id and v.version = w.version
   where w.project_id = $1 and w.id = $2`,
);

/** Returns the graph of the newest version, in order of creation. */
export async function newestGraph(db: Db, { projectId, id }: Workflow): Promise<StoredGraph> {
  const [row] = await findNewestGraph(db, [projectId, id]);
  if (!row) throw workflowNotFound();
  const { steps, transitions } = row.graph;
  const createdAt = row.createdAt.toISOString();
  // The previous version of the program does not store these.
  const defaults = { position: { x: 0, y: 0 }, createdAt, updatedAt: createdAt };
  return {
    steps: steps.map((step) => ({ ...defaults, ...step })).sort(byId),
    transitions: transitions.toSorted(byId),
  };
}

/** Replaces the graph of the newest version. Only positions and times may differ, which executions do not read. */
export async function replaceNewest(trx: Db, { id, version }: Workflow, graph: StoredGraph): Promise<void> {
  await WorkflowVersion.query(trx).patchAndFetchById([id, version], { graph: { ...graph } });
}

const findNewest = statement<{ workflowId: string; graph: Graph }>(
  'workflow-newest-graphs',
  `select w.id as workflow_id, v.graph from workflows w
   join workflow_versions v on v.workflow_id = w.id and v.version = w.version
   where w.project_id = $1 and v.graph::text ilike $2`,
);

/** Returns the newest graphs of a project that contain a text. */
export const newestGraphs = (db: Db, projectId: string, text = ''): Promise<{ workflowId: string; graph: Graph }[]> =>
  findNewest(db, [projectId, `%${text}%`]);

const findGraph = statement<{ graph: Graph }>(
  'workflow-version',
  'select graph from workflow_versions where workflow_id = $1 and version = $2',
);

/** Needs no invalidation: what executions read of a version never changes. */
const cache = new LRUCache<string, Graph>({ max: 500 });

/** Returns undefined when the workflow was deleted. */
export async function storedGraph(db: Db, workflowId: string, version: number): Promise<Graph | undefined> {
  const key = `${workflowId}/${version}`;
  const cached = cache.get(key);
  if (cached) return cached;
  const [row] = await findGraph(db, [workflowId, version]);
  if (row) cache.set(key, row.graph);
  return row?.graph;
}
