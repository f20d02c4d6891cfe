import type { Db } from '../../db/connect.ts';
import { Workflow, WorkflowStep, WorkflowTransition } from '../../db/models/workflow.ts';
import { notFound } from '../../platform/errors.ts';
import type { Graph, Step, Transition } from './graph.ts';

/** The graph as it is being edited, in order of creation. */
export interface EditedGraph {
  steps: WorkflowStep[];
  transitions: WorkflowTransition[];
}

export async function findWorkflow(db: Db, projectId: string, id: string): Promise<Workflow> {
  return found(await Workflow.query(db).findOne({ projectId, id }));
}

/** Blocks other edits and starts of executions until the transaction ends. */
export async function lockWorkflow(trx: Db, projectId: string, id: string): Promise<Workflow> {
  return found(await Workflow.query(trx).findOne({ projectId, id }).forUpdate());
}

function found(workflow: Workflow | undefined): Workflow {
  if (!workflow) throw notFound('workflow', 'WORKFLOW_NOT_FOUND');
  return workflow;
}

export async function editedGraph(db: Db, workflowId: string): Promise<EditedGraph> {
  const steps = await WorkflowStep.query(db).where({ workflowId }).orderBy('id');
  const transitions = await WorkflowTransition.query(db).where({ workflowId }).orderBy('id');
  return { steps, transitions };
}

/** Returns the part that a version stores. */
export const asGraph = ({ steps, transitions }: EditedGraph): Graph => ({
  steps: steps.map(asStep),
  transitions: transitions.map(asTransition),
});

/** Returns the graph with the positions of its steps, as versions store it. */
export const withPositions = ({ steps, transitions }: EditedGraph) => ({
  steps: steps.map((step) => ({ ...asStep(step), position: step.position })),
  transitions: transitions.map(asTransition),
});

export const asStep = ({ id, type, name, config, templateId }: WorkflowStep): Step => ({
  id,
  type,
  name,
  config,
  templateId,
});

const asTransition = ({ id, fromStepId, toStepId, branch }: WorkflowTransition): Transition => ({
  id,
  fromStepId,
  toStepId,
  branch,
});
