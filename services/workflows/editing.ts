import type { Db } from '../../db/connect.ts';
import { Workflow } from '../../db/models/workflow.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { lockWorkflow } from './find.ts';
import type { StoredGraph } from './graph.ts';
import { newestGraph, saveVersion } from './versions.ts';

/** Changes a workflow under its lock. */
export function changeWorkflow<T>(
  db: Db,
  project: ProjectAccess,
  id: string,
  change: (trx: Db, workflow: Workflow) => Promise<T>,
): Promise<T> {
  return writing(db, project, async (trx) => change(trx, await lockWorkflow(trx, project.projectId, id)));
}

/** The changed graph, and what the caller gets. */
export interface Edit<T> {
  graph: StoredGraph;
  result: T;
}

/** Changes the graph and stores it as a new version. Active executions stay on theirs. */
export function editGraph<T>(
  db: Db,
  project: ProjectAccess,
  id: string,
  edit: (trx: Db, workflow: Workflow, graph: StoredGraph) => Promise<Edit<T>>,
): Promise<T> {
  return changeWorkflow(db, project, id, async (trx, workflow) => {
    const { graph, result } = await edit(trx, workflow, await newestGraph(trx, workflow));
    await saveChangedGraph(trx, project, workflow, graph);
    return result;
  });
}

/** Stores the changed graph as a new version. */
export async function saveChangedGraph(
  trx: Db,
  project: ProjectAccess,
  workflow: Workflow,
  graph: StoredGraph,
): Promise<void> {
  const { id, version } = await saveVersion(trx, workflow, graph);
  await recordAudit(trx, project, {
    action: 'workflow.updated',
    target: { type: 'workflow', id },
    changes: changesOf({ version: workflow.version }, { version }),
  });
}

/** Makes drafts that were read before stale. */
export const nextRevision = (trx: Db, { id, draftRevision }: Workflow): PromiseLike<Workflow> =>
  Workflow.query(trx).patchAndFetchById(id, { draftRevision: draftRevision + 1 });
