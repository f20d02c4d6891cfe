import type { Db } from '../../../db/connect.ts';
import { Template } from '../../../db/models/template.ts';
import { Workflow, WorkflowMove } from '../../../db/models/workflow.ts';
import { statement } from '../../../db/statement.ts';
import { faultPoint } from '../../../platform/fault-points.ts';
import type { ProjectAccess } from '../../access/keys.ts';
import { changesOf, recordAudit, userIdOf } from '../../audit/record.ts';
import { requirePassingCases } from '../cases/run.ts';
import { changeWorkflow } from '../editing.ts';
import { activeGroups, changedKeys, refusalOfMove } from '../executions/move.ts';
import { findWorkflow } from '../find.ts';
import { type DraftGraph, successorOf } from '../graph.ts';
import { syncSchedule } from '../schedule.ts';
import type { SimulationDeps } from '../simulation/index.ts';
import type { StepRules } from '../step-config.ts';
import { stepTypeOf } from '../steps/index.ts';
import { changeReentry } from '../update.ts';
import { insertVersion, newestGraph, removeUnusedVersions, storedGraph } from '../versions.ts';
import { type GraphViolation, requireNoViolations } from '../violations.ts';
import { findStep } from '../walk.ts';
import { type DraftRow, draftConflict, draftOf, findDraft, findDraftRow, removeDraft, settingsOf } from './draft.ts';
import { finishMoves } from './moves.ts';

export interface PublishInput {
  expectedRevision: number;
  note?: string | null | undefined;
  migrate?: 'NONE' | 'POSSIBLE' | undefined;
}

export interface Published {
  workflow: Workflow;
  version: number;
  movedCount: number;
  stayedCount: number;
}

/** Published versions of a workflow that are kept. */
const KEPT = 200;

/**
 * Makes the draft the newest version. Executions move to it afterwards, in sets; the request waits for them, and
 * housekeeping continues when the process dies.
 */
export async function publishDraft(
  db: Db,
  project: ProjectAccess,
  id: string,
  { expectedRevision, note = null, migrate = 'NONE' }: PublishInput,
  rules: StepRules,
  /** Given when the cases have to pass. */
  simulation?: SimulationDeps,
): Promise<Published> {
  const { projectId } = project;
  // Before the locks, since it may take seconds. A draft that changes meanwhile has another revision.
  if (simulation) await requireCases(simulation, projectId, id, expectedRevision);
  const workflow = await changeWorkflow(db, project, id, async (trx, before) => {
    const row = await findDraftRow(trx, before);
    if (!row) throw await draftConflict(trx, before, rules, 'There is no draft to publish.');
    if (expectedRevision !== before.draftRevision) throw await draftConflict(trx, before, rules);
    if (row.baseVersion !== before.version)
      throw await draftConflict(
        trx,
        before,
        rules,
        'The workflow has a newer version than the draft: rebase or discard the draft.',
      );
    await lockTemplates(trx, projectId, row.graph);
    requireNoViolations((await draftOf(trx, before, rules)).faults, 'published');
    const after = await writeVersion(trx, project, before, row, note);
    if (migrate === 'POSSIBLE')
      await WorkflowMove.query(trx).insert({ workflowId: id, version: after.version, projectId });
    await removeUnusedVersions(trx, id);
    await recordAudit(trx, project, {
      action: 'workflow.published',
      target: { type: 'workflow', id },
      changes: changesOf({ version: before.version }, { version: after.version }),
    });
    return after;
  });
  faultPoint('publish-committed');
  const { version } = workflow;
  const movedCount =
    migrate === 'POSSIBLE' ? await finishMoves(db, rules.secretKeys, { projectId, workflowId: id, version }) : 0;
  const stayed = (await activeGroups(db, projectId, id)).filter((group) => group.version < version);
  return { workflow, version, movedCount, stayedCount: stayed.reduce((sum, { count }) => sum + count, 0) };
}

async function requireCases(deps: SimulationDeps, projectId: string, id: string, revision: number): Promise<void> {
  const { draftRevision, version } = await findWorkflow(deps.db, projectId, id);
  const { faults, baseVersion } = await findDraft(deps.db, projectId, id, deps.settings);
  // The publication is refused for this reason.
  if (draftRevision !== revision || baseVersion !== version || faults.length > 0) return;
  await requirePassingCases(deps, projectId, id);
}

/** Blocks a deletion of the templates until it can see the steps. */
async function lockTemplates(trx: Db, projectId: string, { steps }: DraftGraph): Promise<void> {
  const ids = new Set(steps.flatMap((step) => stepTypeOf(step).uses?.(step).templates ?? []));
  await Template.query(trx)
    .where({ projectId })
    .whereIn('id', [...ids])
    .orderBy('id')
    .select('id')
    .forKeyShare();
}

const keepPublished = statement(
  'workflow-version-keep',
  `update workflow_versions set published_at = coalesce(published_at, created_at)
   where workflow_id = $1 and version = $2 and jsonb_array_length(graph -> 'steps') > 0`,
);

const forgetOldest = statement(
  'workflow-versions-forget',
  `update workflow_versions set published_at = null where workflow_id = $1 and published_at is not null
     and version <= (select version from workflow_versions where workflow_id = $1 and published_at is not null
       order by version desc offset $2 limit 1)`,
);

async function writeVersion(
  trx: Db,
  { actor }: ProjectAccess,
  before: Workflow,
  row: DraftRow,
  note: string | null,
): Promise<Workflow> {
  const { id } = before;
  const settings = settingsOf(before, row);
  // What was live stays restorable, even when single-step edits made it.
  await keepPublished(trx, [id, before.version]);
  const graph = successorOf(await newestGraph(trx, before), row.graph);
  if (settings.allowReentry !== before.allowReentry) await changeReentry(trx, id, settings.allowReentry);
  await removeDraft(trx, before);
  const version = before.version + 1;
  const after = await Workflow.query(trx).patchAndFetchById(id, {
    ...settings,
    version,
    validVersion: version,
    updatedAt: new Date(),
  });
  const publishedBy = userIdOf(actor);
  await insertVersion(trx, after, graph, { publishedAt: new Date(), publishedBy, note });
  await syncSchedule(trx, before, after);
  await forgetOldest(trx, [id, KEPT]);
  return after;
}

/** What publishing would do to active executions. */
export interface PublishPreview {
  faults: GraphViolation[];
  active: number;
  canMove: number;
  cannotMove: { stepId: string; count: number; reason: string }[];
  /** Steps whose config changes for executions that are in them and move. */
  changes: { stepId: string; count: number; keys: string[]; effect: string }[];
}

export async function previewPublish(db: Db, projectId: string, id: string, rules: StepRules): Promise<PublishPreview> {
  const workflow = await findWorkflow(db, projectId, id);
  const { graph: to, faults } = await draftOf(db, workflow, rules);
  const refused = new Map<string, PublishPreview['cannotMove'][number]>();
  const changes = new Map<string, PublishPreview['changes'][number]>();
  let active = 0;
  let canMove = 0;
  for (const { version, stepId, count } of await activeGroups(db, projectId, id)) {
    active += count;
    const from = await storedGraph(db, id, version);
    const reason = refusalOfMove(from, to, stepId);
    if (stepId !== null && reason !== undefined) {
      const known = refused.get(`${stepId} ${reason}`);
      refused.set(`${stepId} ${reason}`, { stepId, reason, count: count + (known?.count ?? 0) });
      continue;
    }
    canMove += count;
    const step = stepId === null ? undefined : findStep(to, stepId);
    const changed = step ? changedKeys(rules.secretKeys, projectId, [from, to], step.id) : [];
    if (!step || changed.length === 0) continue;
    const known = changes.get(step.id);
    changes.set(step.id, {
      stepId: step.id,
      count: count + (known?.count ?? 0),
      keys: [...new Set([...(known?.keys ?? []), ...changed])].sort(),
      effect: stepTypeOf(step).whenMoved ?? 'it runs with the new config',
    });
  }
  return { faults, active, canMove, cannotMove: [...refused.values()], changes: [...changes.values()] };
}
