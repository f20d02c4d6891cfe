import type { Db } from '../../db/connect.ts';
import type { Workflow } from '../../db/models/workflow.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { asGraph, type EditedGraph, editedGraph, findWorkflow } from './find.ts';
import { showStep } from './sealed-headers.ts';
import { type GraphViolation, graphViolations, triggerViolations } from './violations.ts';

/** A workflow with its graph and what keeps it from being enabled. */
export interface WorkflowDetails extends EditedGraph {
  workflow: Workflow;
  faults: GraphViolation[];
}

/** Opens the headers of webhooks, for display. */
export async function findWorkflowDetails(
  db: Db,
  keys: SigningKeys,
  projectId: string,
  id: string,
): Promise<WorkflowDetails> {
  const details = await workflowDetails(db, await findWorkflow(db, projectId, id));
  return { ...details, steps: details.steps.map((step) => showStep(keys, projectId, step)) };
}

export async function workflowDetails(db: Db, workflow: Workflow): Promise<WorkflowDetails> {
  const graph = await editedGraph(db, workflow.id);
  const faults = [...triggerViolations(workflow), ...(await graphViolations(db, workflow.projectId, asGraph(graph)))];
  return { workflow, ...graph, faults };
}
