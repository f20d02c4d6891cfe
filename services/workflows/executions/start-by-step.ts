import type { Db } from '../../../db/connect.ts';
import { Workflow } from '../../../db/models/workflow.ts';
import type { Data } from '../../contacts/data.ts';
import { MAX_TRIGGER_DEPTH } from '../match-events.ts';
import type { StartedWorkflow } from '../steps/step-type.ts';
import { enter } from './enter.ts';

/** The execution that starts another one. */
interface Starter {
  projectId: string;
  contactId: string;
  depth: number;
}

/** Lets a contact enter another workflow, in the transaction of the step. */
export async function startByStep(
  trx: Db,
  { projectId, contactId, depth }: Starter,
  workflowId: string,
  context: Data,
): Promise<StartedWorkflow> {
  const workflow = await Workflow.query(trx).findOne({ projectId, id: workflowId }).forShare();
  const refusal = refusalOfStart(workflow, depth);
  if (refusal) return refusal;
  const { validVersion: version, allowReentry } = workflow as Workflow & { validVersion: number };
  const entry = { projectId, workflowId, version, contactId, context, afterPosition: null, depth: depth + 1 };
  const [executionId] = await enter(trx, [{ ...entry, oncePerContact: !allowReentry }]);
  return executionId ? { executionId } : { skipped: MAY_NOT_ENTER };
}

export const MAY_NOT_ENTER = 'the contact cannot enter the workflow again';

/** Returns why a workflow cannot be started, or undefined when it can. */
export function refusalOfStart(
  workflow: Workflow | undefined,
  depth: number,
): Exclude<StartedWorkflow, { executionId: string }> | undefined {
  if (!workflow) return { failed: 'the workflow to start no longer exists' };
  if (!workflow.enabled || workflow.validVersion === null) return { skipped: 'the workflow to start is disabled' };
  if (depth >= MAX_TRIGGER_DEPTH)
    return { skipped: `workflows have started each other ${MAX_TRIGGER_DEPTH} times in a row` };
  return undefined;
}
