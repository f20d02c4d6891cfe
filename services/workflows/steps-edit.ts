import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../../db/connect.ts';
import { Template } from '../../db/models/template.ts';
import { statement } from '../../db/statement.ts';
import { badRequest, notFound, validationError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { ProjectAccess } from '../access/keys.ts';
import type { Data } from '../contacts/data.ts';
import { CIRCLE, isCircle, lastOpenExit, requireConnection } from './connections.ts';
import { changeWorkflow, editGraph, nextRevision, saveChangedGraph } from './editing.ts';
import { branches, type Connection, type Graph, type Step, type StoredStep, type Transition } from './graph.ts';
import { keepHidden, sealStep, showStep } from './sealed-headers.ts';
import { readConfig, requireReferences, type StepRules } from './step-config.ts';
import { stepTypeOf } from './steps/index.ts';
import { newestGraph, replaceNewest } from './versions.ts';

// Each edit is a function on the newest graph, whose result is stored as the next version.

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
): Promise<StoredStep> {
  const { secretKeys } = rules;
  return editGraph(db, project, workflowId, async (trx, { projectId }, { steps, transitions }) => {
    if (steps.length >= MAX_STEPS) throw badRequest(`A workflow has at most ${MAX_STEPS} steps.`);
    const now = new Date().toISOString();
    const step = {
      id: newId(),
      type,
      name: name ?? stepTypeOf({ type }).label,
      position: position ?? { x: 0, y: 0 },
      config: keepHidden({ type, config: readConfig(type, config ?? {}, rules) }, undefined, 'config').config,
      templateId,
      createdAt: now,
      updatedAt: now,
    };
    await requireReferencedRows(trx, projectId, step);
    const open = autoConnect ? lastOpenExit({ steps, transitions }) : undefined;
    const sealed = sealStep(secretKeys, projectId, step);
    const graph = {
      steps: [...steps, sealed],
      transitions: open ? [...transitions, { id: newId(), toStepId: step.id, ...open }] : transitions,
    };
    return { graph, result: showStep(secretKeys, projectId, sealed) };
  });
}

export async function updateStep(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  stepId: string,
  change: StepChange,
  rules: StepRules,
): Promise<StoredStep> {
  const { secretKeys } = rules;
  return changeWorkflow(db, project, workflowId, async (trx, workflow) => {
    const { projectId } = workflow;
    const { steps, transitions } = await newestGraph(trx, workflow);
    const stored = requireStep(steps, stepId);
    const before = showStep(secretKeys, projectId, stored);
    const after = { ...changed(before, change, rules), updatedAt: new Date().toISOString() };
    await requireReferencedRows(trx, projectId, after, before);
    const isSameConfig = isDeepStrictEqual(after.config, before.config);
    // Sealing the same headers again would give another ciphertext, and so a new version.
    const sealed = isSameConfig ? { ...after, config: stored.config } : sealStep(secretKeys, projectId, after);
    const graph = { steps: steps.map((step) => (step === stored ? sealed : step)), transitions };
    const isMoved = !isDeepStrictEqual(before.position, after.position);
    // Executions do not read a step's position, so moving a step makes no version. Drafts have it.
    if (!isSameConfig || before.name !== after.name || before.templateId !== after.templateId)
      await saveChangedGraph(trx, project, workflow, graph);
    else await replaceNewest(trx, isMoved ? await nextRevision(trx, workflow) : workflow, graph);
    return showStep(secretKeys, projectId, sealed);
  });
}

/** A new `templateId` is also written into a config that has one, because the config's wins over the step's. */
function changed(before: StoredStep, { name, position, config, templateId }: StepChange, rules: StepRules): StoredStep {
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
  };
}

/** Requires the rows that a step refers to, and locks its templates against deletion. */
async function requireReferencedRows(trx: Db, projectId: string, step: Step, before?: Step): Promise<void> {
  const ids = new Set([...(stepTypeOf(step).uses?.(step).templates ?? []), step.templateId]);
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
  await editGraph(db, project, workflowId, async (_trx, _workflow, { steps, transitions }) => {
    requireStep(steps, stepId);
    const joins = splice ? joinsAround(transitions, stepId) : [];
    const others = transitions.filter(({ fromStepId, toStepId }) => fromStepId !== stepId && toStepId !== stepId);
    const graph = { steps: steps.filter(({ id }) => id !== stepId), transitions: [...others, ...joins] };
    if (joins.some(({ toStepId }) => isCircle(graph, toStepId)))
      throw badRequest(`The step cannot be spliced out: ${CIRCLE}.`);
    return { graph, result: undefined };
  });
}

/** Returns transitions that connect the predecessors of a step with its successor. */
function joinsAround(transitions: Transition[], stepId: string): Transition[] {
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

export async function addTransition(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  added: Connection,
): Promise<Transition> {
  return editGraph(db, project, workflowId, async (trx, { projectId }, { steps, transitions }) => {
    const { fromStepId, toStepId, branch } = added;
    await requireOwnSteps(trx, projectId, steps, [fromStepId, toStepId]);
    requireKnownBranch(steps, added);
    requireConnection({ steps, transitions }, added);
    const transition = { id: newId(), fromStepId, toStepId, branch };
    return { graph: { steps, transitions: [...transitions, transition] }, result: transition };
  });
}

/** A branch that no step of this type has is a 422, one that this step has not a 400. */
function requireKnownBranch(steps: Graph['steps'], { fromStepId, branch }: Connection): void {
  const from = steps.find(({ id }) => id === fromStepId);
  if (branch === null || !from || stepTypeOf(from).exitsOf || branches.some((known) => known === branch)) return;
  const message = `"branch" must be one of [${branches.join(', ')}, null]`;
  throw validationError([{ field: 'branch', message, code: 'invalid_enum' }]);
}

const findForeign = statement<{ id: string }>(
  'workflow-steps-foreign',
  `select wanted.id from unnest($2::text[]) as wanted (id) where exists (
     select 1 from workflows w join workflow_versions v on v.workflow_id = w.id and v.version = w.version
     where w.project_id = $1 and v.graph @> jsonb_build_object('steps', jsonb_build_array(jsonb_build_object('id', wanted.id))))`,
);

/** A step of another workflow is a 400. A step of another project is a 404, which does not reveal that it exists. */
async function requireOwnSteps(trx: Db, projectId: string, steps: Graph['steps'], ids: string[]): Promise<void> {
  const foreign = [...new Set(ids)].filter((id) => !steps.some((step) => step.id === id));
  if (foreign.length === 0) return;
  const known = await findForeign(trx, [projectId, foreign]);
  if (known.length < foreign.length) throw noStep();
  throw badRequest('The transition is not allowed: a step of another workflow cannot be connected.');
}

export async function deleteTransition(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  transitionId: string,
): Promise<void> {
  await editGraph(db, project, workflowId, async (_trx, _workflow, { steps, transitions }) => {
    const others = transitions.filter(({ id }) => id !== transitionId);
    if (others.length === transitions.length) throw notFound('transition');
    return { graph: { steps, transitions: others }, result: undefined };
  });
}

const noStep = () => notFound('step');

function requireStep(steps: StoredStep[], id: string): StoredStep {
  const step = steps.find((one) => one.id === id);
  if (!step) throw noStep();
  return step;
}
