import type { Db } from '../../db/connect.ts';
import { Workflow } from '../../db/models/workflow.ts';
import { notFound } from '../../platform/errors.ts';

export async function findWorkflow(db: Db, projectId: string, id: string): Promise<Workflow> {
  return found(await Workflow.query(db).findOne({ projectId, id }));
}

/** Blocks other edits and starts of executions until the transaction ends. */
export async function lockWorkflow(trx: Db, projectId: string, id: string): Promise<Workflow> {
  return found(await Workflow.query(trx).findOne({ projectId, id }).forUpdate());
}

function found(workflow: Workflow | undefined): Workflow {
  if (!workflow) throw workflowNotFound();
  return workflow;
}

export const workflowNotFound = () => notFound('workflow', 'WORKFLOW_NOT_FOUND');
