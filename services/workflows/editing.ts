import { type Db, inTransaction } from '../../db/connect.ts';
import type { Workflow } from '../../db/models/workflow.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireOpenProject } from '../access/open-project.ts';
import { type EditedGraph, editedGraph, lockWorkflow } from './find.ts';
import { saveVersion } from './versions.ts';

/** Changes a workflow, one at a time. */
export function changing<T>(
  db: Db,
  project: ProjectAccess,
  id: string,
  change: (trx: Db, workflow: Workflow) => Promise<T>,
): Promise<T> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      await requireOpenProject(trx, project);
      return change(trx, await lockWorkflow(trx, project.projectId, id));
    }),
  );
}

/** Changes its graph, which makes a new version of it. Executions that are on their way stay on theirs. */
export function editing<T>(
  db: Db,
  project: ProjectAccess,
  id: string,
  edit: (trx: Db, workflow: Workflow, graph: EditedGraph) => Promise<T>,
): Promise<T> {
  return changing(db, project, id, async (trx, workflow) => {
    const result = await edit(trx, workflow, await editedGraph(trx, id));
    await saveVersion(trx, workflow);
    return result;
  });
}
