import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../../../db/connect.ts';
import { type TriggerConfig, type TriggerType, type Workflow, WorkflowDraftRow } from '../../../db/models/workflow.ts';
import { statement } from '../../../db/statement.ts';
import { ApiError } from '../../../platform/errors.ts';
import type { ProjectAccess } from '../../access/keys.ts';
import { userIdOf } from '../../audit/record.ts';
import { changeWorkflow, nextRevision } from '../editing.ts';
import { findWorkflow } from '../find.ts';
import { type DraftGraph, type GivenGraph, graphContentOf, isSameGraph, readDraftGraph } from '../graph.ts';
import { hasHiddenHeaders, keepHidden, sealStep, showStep } from '../sealed-headers.ts';
import type { StepRules } from '../step-config.ts';
import { readTrigger, type TriggerChange } from '../trigger.ts';
import { newestGraph, requireGraphSize } from '../versions.ts';
import type { GraphViolation } from '../violations.ts';
import { draftFaults } from './faults.ts';

/** Changes of a workflow that are not live yet. A workflow without a draft shows its newest version. */
export interface WorkflowDraft {
  workflowId: string;
  /** The version that it changes. */
  baseVersion: number;
  revision: number;
  triggerType: TriggerType;
  triggerConfig: TriggerConfig;
  allowReentry: boolean;
  /** With the headers of webhooks open. */
  graph: DraftGraph;
  faults: GraphViolation[];
  /** It differs from the newest version. */
  changed: boolean;
  updatedAt: Date;
  /** The address of the user; null for a key, or when the user is gone. */
  updatedBy: string | null;
}

/** A row of `workflow_drafts`, with its editor. */
export interface DraftRow
  extends Pick<WorkflowDraftRow, 'baseVersion' | 'triggerType' | 'triggerConfig' | 'allowReentry' | 'updatedAt'> {
  graph: DraftGraph;
  /** The address of the user. */
  updatedBy: string | null;
  /** Null for a key. */
  updatedById: string | null;
}

const findRow = statement<DraftRow>(
  'workflow-draft',
  `select d.base_version, d.trigger_type, d.trigger_config, d.allow_reentry, d.graph, d.updated_at,
     d.updated_by as updated_by_id, u.email as updated_by
   from workflow_drafts d left join users u on u.id = d.updated_by where d.project_id = $1 and d.workflow_id = $2`,
);

export async function findDraftRow(db: Db, { id, projectId }: Workflow): Promise<DraftRow | undefined> {
  const [row] = await findRow(db, [projectId, id]);
  return row;
}

export async function findDraft(db: Db, projectId: string, id: string, rules: StepRules): Promise<WorkflowDraft> {
  return draftOf(db, await findWorkflow(db, projectId, id), rules);
}

/** Returns the draft of a workflow, or its newest version when there is none. */
export async function draftOf(db: Db, workflow: Workflow, rules: StepRules): Promise<WorkflowDraft> {
  const { id, projectId, version, updatedAt } = workflow;
  const row = await findDraftRow(db, workflow);
  const opened = ({ steps, transitions }: DraftGraph): DraftGraph => ({
    steps: steps.map((step) => showStep(rules.secretKeys, projectId, step)),
    transitions,
  });
  const newest = opened(graphContentOf(await newestGraph(db, workflow)));
  const graph = row ? opened(row.graph) : newest;
  const settings = settingsOf(workflow, row);
  const faults = await draftFaults(db, projectId, { trigger: settings, graph, live: newest.steps }, rules);
  return {
    workflowId: id,
    baseVersion: row?.baseVersion ?? version,
    revision: workflow.draftRevision,
    ...settings,
    graph,
    faults,
    changed: row !== undefined && !(isSameGraph(graph, newest) && isDeepStrictEqual(settings, settingsOf(workflow))),
    updatedAt: row?.updatedAt ?? updatedAt,
    updatedBy: row?.updatedBy ?? null,
  };
}

type Settings = Pick<Workflow, 'triggerType' | 'triggerConfig' | 'allowReentry'>;

/** Returns trigger and re-entry as the draft has them. */
export const settingsOf = (
  workflow: Workflow,
  row?: Pick<DraftRow, 'triggerType' | 'triggerConfig' | 'allowReentry'>,
): Settings => ({
  triggerType: row?.triggerType ?? workflow.triggerType,
  triggerConfig: row?.triggerConfig ?? workflow.triggerConfig,
  allowReentry: row?.allowReentry ?? workflow.allowReentry,
});

export interface DraftInput extends TriggerChange {
  graph: GivenGraph;
  allowReentry?: boolean | undefined;
  expectedRevision: number;
  /** The version that the client has edited. Matters for a new draft only. */
  baseVersion?: number | undefined;
}

/** Stores the draft. A 409 when it, or what is live, was changed since the caller read it. */
export async function putDraft(
  db: Db,
  project: ProjectAccess,
  id: string,
  { graph: given, expectedRevision, baseVersion, allowReentry, ...trigger }: DraftInput,
  rules: StepRules,
): Promise<WorkflowDraft> {
  const graph = readDraftGraph(given);
  requireGraphSize(graph);
  return changeWorkflow(db, project, id, async (trx, workflow) => {
    const row = await findDraftRow(trx, workflow);
    const base = row?.baseVersion ?? workflow.version;
    if (expectedRevision !== workflow.draftRevision || (!row && baseVersion !== undefined && baseVersion !== base))
      throw await draftConflict(trx, workflow, rules);
    const before = settingsOf(workflow, row);
    const settings = {
      ...(await readTrigger(trx, { projectId: workflow.projectId, ...before }, trigger)),
      allowReentry: allowReentry ?? before.allowReentry,
    };
    const kept = await keepHiddenOf(trx, workflow, graph, rules);
    return storeDraft(trx, project, workflow, { baseVersion: base, settings, graph: kept }, rules);
  });
}

/** Fills in the values of headers that the client got hidden. */
async function keepHiddenOf(trx: Db, workflow: Workflow, graph: DraftGraph, rules: StepRules): Promise<DraftGraph> {
  if (!graph.steps.some(hasHiddenHeaders)) return graph;
  const { steps } = (await draftOf(trx, workflow, rules)).graph;
  const before = (wanted: string) => steps.find(({ id }) => id === wanted)?.config;
  return {
    ...graph,
    steps: graph.steps.map((step, n) => keepHidden(step, before(step.id), `graph.steps.${n}.config`)),
  };
}

/** The 409 of a caller who has not seen the current draft, which it contains. */
export async function draftConflict(
  trx: Db,
  workflow: Workflow,
  rules: StepRules,
  message = 'The draft has changed since you read it.',
): Promise<ApiError> {
  const draft = presentedDraft(await draftOf(trx, workflow, rules));
  return new ApiError(409, 'CONFLICT', message, { details: draft });
}

/** A draft as the API shows it: here, because a conflict has it in its details. */
export const presentedDraft = ({ faults, updatedAt, ...draft }: WorkflowDraft) => ({
  ...draft,
  valid: faults.length === 0,
  faults,
  updatedAt: updatedAt.toISOString(),
});

/** Stores a draft with open headers under the next revision. */
export async function storeDraft(
  trx: Db,
  { actor }: ProjectAccess,
  workflow: Workflow,
  { baseVersion, settings, graph }: { baseVersion: number; settings: Settings; graph: DraftGraph },
  rules: StepRules,
): Promise<WorkflowDraft> {
  const { id, projectId } = workflow;
  const sealed = { ...graph, steps: graph.steps.map((step) => sealStep(rules.secretKeys, projectId, step)) };
  const own = <T>(value: T, current: T): T | null => (isDeepStrictEqual(value, current) ? null : value);
  const values = {
    baseVersion,
    triggerType: own(settings.triggerType, workflow.triggerType),
    triggerConfig: own(settings.triggerConfig, workflow.triggerConfig),
    allowReentry: own(settings.allowReentry, workflow.allowReentry),
    graph: sealed,
    updatedAt: new Date(),
    updatedBy: userIdOf(actor),
  };
  await WorkflowDraftRow.query(trx)
    .insert({ workflowId: id, projectId, ...values })
    .onConflict('workflowId')
    .merge();
  return draftOf(trx, await nextRevision(trx, workflow), rules);
}

export async function dropDraft(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await changeWorkflow(db, project, id, removeDraft);
}

export async function removeDraft(trx: Db, workflow: Workflow): Promise<void> {
  const { id, projectId } = workflow;
  const removed = await WorkflowDraftRow.query(trx).where({ projectId, workflowId: id }).delete();
  if (removed > 0) await nextRevision(trx, workflow);
}
