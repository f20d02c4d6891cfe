import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../../db/connect.ts';
import { Template } from '../../db/models/template.ts';
import { type Workflow, WorkflowStep, WorkflowTransition } from '../../db/models/workflow.ts';
import { badRequest, notFound, validationError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { ProjectAccess } from '../access/keys.ts';
import type { Data } from '../contacts/data.ts';
import { CIRCLE, isCircle, lastOpenExit, requireConnection } from './connections.ts';
import { changeWorkflow, editGraph, nextRevision, saveChangedGraph } from './editing.ts';
import { asGraph, asStep, type EditedGraph, editedGraph } from './find.ts';
import { branches } from './graph.ts';
import { keepHidden, sealStep, showStep } from './sealed-headers.ts';
import { readConfig, requireReferences, type StepRules } from './step-config.ts';
import { stepTypeOf } from './steps/index.ts';

export interface StepChange {
  name?: string | undefined;
  position?: { x: number; y: number } | undefined;
  config?: Data | undefined;
  templateId?: string | null | undefined;
}

export interface NewStep extends StepChange {
  type: string;
  autoConnect?: boolean | undefined;
}

const MAX_STEPS = 500;

export async function addStep(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  { type, name, position, config, templateId = null, autoConnect }: NewStep,
  rules: StepRules,
): Promise<WorkflowStep> {
  return editGraph(db, project, workflowId, async (trx, workflow, graph) => {
    if (graph.steps.length >= MAX_STEPS) throw badRequest(`A workflow has at most ${MAX_STEPS} steps.`);
    const step = WorkflowStep.fromJson({
      id: newId(),
      projectId: workflow.projectId,
      workflowId,
      type,
      name: name ?? stepTypeOf({ type }).label,
      position: position ?? { x: 0, y: 0 },
      config: keepHidden({ type, config: readConfig(type, config ?? {}, rules) }, undefined, 'config').config,
      templateId,
    });
    await requireReferencedRows(trx, workflow, step);
    const { secretKeys } = rules;
    const added = await WorkflowStep.query(trx).insertAndFetch(sealStep(secretKeys, workflow.projectId, step));
    if (autoConnect) await connect(trx, workflow, graph, added);
    return showStep(secretKeys, workflow.projectId, added);
  });
}

async function connect(trx: Db, { projectId, id }: Workflow, graph: EditedGraph, added: WorkflowStep): Promise<void> {
  const open = lastOpenExit(asGraph(graph));
  if (!open) return;
  await WorkflowTransition.query(trx).insert({ id: newId(), projectId, workflowId: id, toStepId: added.id, ...open });
}

export async function updateStep(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  stepId: string,
  change: StepChange,
  rules: StepRules,
): Promise<WorkflowStep> {
  return changeWorkflow(db, project, workflowId, async (trx, workflow) => {
    const stored = found(await WorkflowStep.query(trx).findOne({ workflowId, id: stepId }));
    const { secretKeys } = rules;
    const before = showStep(secretKeys, workflow.projectId, stored);
    const after = changed(before, change, rules);
    await requireReferencedRows(trx, workflow, after, before);
    const saved = await WorkflowStep.query(trx).patchAndFetchById([workflowId, stepId], {
      name: after.name,
      position: after.position,
      // Sealing the same headers again would give another ciphertext, and so a new version.
      config: isDeepStrictEqual(after.config, before.config)
        ? stored.config
        : sealStep(secretKeys, workflow.projectId, after).config,
      templateId: after.templateId,
      updatedAt: new Date(),
    });
    // Executions do not read a step's position, so moving a step makes no version. Drafts have it.
    const isSameGraph = JSON.stringify(asStep(stored)) === JSON.stringify(asStep(saved));
    if (!isSameGraph) await saveChangedGraph(trx, project, workflow);
    else if (!isDeepStrictEqual(stored.position, saved.position)) await nextRevision(trx, workflow);
    return showStep(secretKeys, workflow.projectId, saved);
  });
}

/** A new `templateId` is also written into a config that has one, because the config's wins over the step's. */
function changed(before: WorkflowStep, { name, position, config, templateId }: StepChange, rules: StepRules) {
  const { type } = before;
  const given = config
    ? keepHidden({ type, config: readConfig(type, config, rules) }, before.config, 'config').config
    : before.config;
  const updatesConfig = templateId !== undefined && !config && 'templateId' in given;
  return {
    ...before,
    name: name ?? before.name,
    position: position ?? before.position,
    config: updatesConfig ? { ...given, templateId } : given,
    templateId: templateId === undefined ? before.templateId : templateId,
  } as WorkflowStep;
}

/** Requires the rows that a step refers to, and locks its templates against deletion. */
async function requireReferencedRows(
  trx: Db,
  { projectId }: Workflow,
  step: WorkflowStep,
  before?: WorkflowStep,
): Promise<void> {
  const ids = new Set([...(stepTypeOf(step).uses?.(asStep(step)).templates ?? []), step.templateId]);
  for (const id of ids) {
    if (id === null) continue;
    // A concurrent deletion of the template waits for this transaction, and then sees the step.
    const template = await Template.query(trx).findOne({ projectId, id }).select('id').forKeyShare();
    if (!template) throw notFound('template', 'TEMPLATE_NOT_FOUND');
  }
  await requireReferences(trx, projectId, step, before?.config);
}

export async function deleteStep(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  stepId: string,
  { splice }: { splice: boolean },
): Promise<void> {
  await editGraph(db, project, workflowId, async (trx, workflow, graph) => {
    found(graph.steps.find(({ id }) => id === stepId));
    const joins = splice ? joinsAround(graph, stepId) : [];
    await WorkflowStep.query(trx).deleteById([workflowId, stepId]);
    const rest = await editedGraph(trx, workflowId);
    for (const join of joins) {
      const kept = { ...join, projectId: workflow.projectId, workflowId };
      await WorkflowTransition.query(trx).insert(kept);
      rest.transitions.push(kept as WorkflowTransition);
    }
    if (joins.some(({ toStepId }) => isCircle(asGraph(rest), toStepId)))
      throw badRequest(`The step cannot be spliced out: ${CIRCLE}.`);
  });
}

type Join = Pick<WorkflowTransition, 'id' | 'fromStepId' | 'toStepId' | 'branch'>;

/** Returns transitions that connect the predecessors of a step with its successor. */
function joinsAround({ transitions }: EditedGraph, stepId: string): Join[] {
  const out = transitions.filter(({ fromStepId }) => fromStepId === stepId);
  const [next, ...others] = out;
  if (others.length > 0 || (next && next.branch !== null))
    throw badRequest('A step with branches cannot be spliced out: the next step is ambiguous.');
  if (!next) return [];
  return transitions
    .filter(({ toStepId }) => toStepId === stepId)
    .map(({ fromStepId, branch }) => ({ id: newId(), fromStepId, toStepId: next.toStepId, branch }))
    .filter(({ fromStepId, toStepId }) => fromStepId !== toStepId);
}

export interface NewTransition {
  fromStepId: string;
  toStepId: string;
  branch: WorkflowTransition['branch'];
}

export async function addTransition(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  added: NewTransition,
): Promise<WorkflowTransition> {
  return editGraph(db, project, workflowId, async (trx, { projectId }, graph) => {
    await requireOwnSteps(trx, projectId, graph, [added.fromStepId, added.toStepId]);
    requireKnownBranch(graph, added);
    requireConnection(asGraph(graph), added);
    return WorkflowTransition.query(trx).insertAndFetch({ id: newId(), projectId, workflowId, ...added });
  });
}

/** A branch that no step of this type has is a 422, one that this step has not a 400. */
function requireKnownBranch({ steps }: EditedGraph, { fromStepId, branch }: NewTransition): void {
  const from = steps.find(({ id }) => id === fromStepId);
  if (branch === null || !from || stepTypeOf(from).exitsOf || branches.some((known) => known === branch)) return;
  const message = `"branch" must be one of [${branches.join(', ')}, null]`;
  throw validationError([{ field: 'branch', message, code: 'invalid_enum' }]);
}

/** A step of another workflow is a 400. A step of another project is a 404, which does not reveal that it exists. */
async function requireOwnSteps(trx: Db, projectId: string, { steps }: EditedGraph, ids: string[]): Promise<void> {
  const foreign = ids.filter((id) => !steps.some((step) => step.id === id));
  if (foreign.length === 0) return;
  const known = await WorkflowStep.query(trx).where({ projectId }).whereIn('id', foreign).resultSize();
  if (known < new Set(foreign).size) throw noStep();
  throw badRequest('The transition is not allowed: a step of another workflow cannot be connected.');
}

export async function deleteTransition(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  transitionId: string,
): Promise<void> {
  await editGraph(db, project, workflowId, async (trx) => {
    const deleted = await WorkflowTransition.query(trx).where({ workflowId, id: transitionId }).delete();
    if (deleted === 0) throw notFound('transition');
  });
}

const noStep = () => notFound('step');

function found(step: WorkflowStep | undefined): WorkflowStep {
  if (!step) throw noStep();
  return step;
}
