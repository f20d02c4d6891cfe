import type { Db } from '../../db/connect.ts';
import { Workflow } from '../../db/models/workflow.ts';
import { validationError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { UNLIMITED } from '../../platform/limits.ts';
import { nameOfCopy } from '../../platform/names.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireBelowLimit } from '../access/resource-limit.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { findWorkflow } from './find.ts';
import { EMPTY_GRAPH, successorOf } from './graph.ts';
import { insertVersion, newestGraph } from './versions.ts';
import { graphViolations } from './violations.ts';

export interface NewWorkflow {
  name: string;
  description?: string | null | undefined;
  eventName?: string | undefined;
  triggerConfig?: { eventName?: string | undefined } | undefined;
  allowReentry?: boolean | undefined;
}

/** Creates a disabled workflow with an EVENT trigger. */
export async function createWorkflow(
  db: Db,
  project: ProjectAccess,
  input: NewWorkflow,
  { workflows: max } = UNLIMITED,
): Promise<Workflow> {
  const eventName = input.eventName ?? input.triggerConfig?.eventName;
  if (eventName === undefined)
    throw validationError([{ field: 'eventName', message: '"eventName" is required', code: 'required' }]);
  return writing(db, project, async (trx) => {
    await requireBelowLimit(trx, { what: 'workflows', projectId: project.projectId, max });
    const workflow = await Workflow.query(trx).insertAndFetch({
      id: newId(),
      projectId: project.projectId,
      name: input.name,
      description: input.description ?? null,
      triggerType: 'EVENT',
      triggerConfig: { eventName },
      allowReentry: input.allowReentry ?? false,
    });
    await insertVersion(trx, workflow, EMPTY_GRAPH);
    await recordCreated(trx, project, workflow);
    return workflow;
  });
}

const recordCreated = (trx: Db, project: ProjectAccess, { id, name }: Workflow): Promise<void> =>
  recordAudit(trx, project, {
    action: 'workflow.created',
    target: { type: 'workflow', id },
    changes: changesOf({}, { name }),
  });

/** Copies a workflow and its graph under new ids. The copy is disabled. */
export async function duplicateWorkflow(
  db: Db,
  project: ProjectAccess,
  id: string,
  { workflows: max } = UNLIMITED,
): Promise<Workflow> {
  return writing(db, project, async (trx) => {
    const original = await findWorkflow(trx, project.projectId, id);
    await requireBelowLimit(trx, { what: 'workflows', projectId: project.projectId, max });
    const { steps, transitions } = await newestGraph(trx, original);
    const { projectId, name, description, triggerType, triggerConfig, allowReentry } = original;
    const copy = await Workflow.query(trx).insertAndFetch({
      id: newId(),
      projectId,
      name: nameOfCopy(name),
      description,
      triggerType,
      triggerConfig,
      allowReentry,
    });
    const ids = new Map(steps.map((step) => [step.id, newId()]));
    const idOf = (stepId: string): string => ids.get(stepId) ?? stepId;
    const graph = successorOf(EMPTY_GRAPH, {
      steps: steps.map((step) => ({ ...step, id: idOf(step.id) })),
      transitions: transitions.map(({ branch, fromStepId, toStepId }) => ({
        fromStepId: idOf(fromStepId),
        toStepId: idOf(toStepId),
        branch,
      })),
    });
    await insertVersion(trx, copy, graph);
    await recordCreated(trx, project, copy);
    const violations = await graphViolations(trx, projectId, graph);
    return violations.length > 0 ? copy : copy.$query(trx).patchAndFetch({ validVersion: copy.version });
  });
}
