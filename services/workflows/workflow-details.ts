import type { Db } from '../../db/connect.ts';
import type { Workflow } from '../../db/models/workflow.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { findWorkflow } from './find.ts';
import type { StoredGraph } from './graph.ts';
import { showStep } from './sealed-headers.ts';
import { newestGraph } from './versions.ts';
import { type GraphViolation, graphViolations, triggerViolations } from './violations.ts';

/** A workflow with its graph and what keeps it from being enabled. */
export interface WorkflowDetails extends StoredGraph {
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
  const graph = await newestGraph(db, workflow);
  const faults = [...triggerViolations(workflow), ...(await graphViolations(db, workflow.projectId, graph))];
  return { workflow, ...graph, faults };
}
