import type { Db } from '../../../db/connect.ts';
import type { TriggerConfig, TriggerType } from '../../../db/models/workflow.ts';
import { statement } from '../../../db/statement.ts';
import { openCursor, signCursor } from '../../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../../platform/crypto/signed-token.ts';
import { notFound } from '../../../platform/errors.ts';
import { mergeGraphs } from '../../../platform/merge-graphs.ts';
import type { ProjectAccess } from '../../access/keys.ts';
import { userIdOf } from '../../audit/record.ts';
import { type CursorPage, cutPage } from '../../paging.ts';
import { changeWorkflow } from '../editing.ts';
import { findWorkflow } from '../find.ts';
import { type DraftGraph, graphContentOf } from '../graph.ts';
import { showStep } from '../sealed-headers.ts';
import type { StepRules } from '../step-config.ts';
import { newestGraph } from '../versions.ts';
import { draftConflict, findDraftRow, settingsOf, storeDraft, type WorkflowDraft } from './draft.ts';

export interface ListedVersion {
  version: number;
  note: string | null;
  publishedAt: Date;
  publishedBy: string | null;
  activeExecutions: number;
}

export interface VersionDetails extends ListedVersion {
  graph: DraftGraph;
}

interface VersionRow extends ListedVersion {
  graph: DraftGraph;
  triggerType: TriggerType | null;
  triggerConfig: TriggerConfig | null;
  allowReentry: boolean | null;
}

const COLUMNS = `v.version, v.note, coalesce(v.published_at, v.created_at) as published_at, u.email as published_by,
  (select count(*)::integer from executions e where e.workflow_id = v.workflow_id and e.version = v.version
     and e.status in ('RUNNING', 'WAITING')) as active_executions`;
const FROM = `from workflows w join workflow_versions v on v.workflow_id = w.id left join users u on u.id = v.published_by
  where w.project_id = $1 and w.id = $2`;

const list = statement<ListedVersion>(
  'workflow-versions-list',
  `select ${COLUMNS} ${FROM} and v.version < $3::bigint order by v.version desc limit $4`,
);
const count = statement<{ total: number }>('workflow-versions-count', `select count(*)::integer as total ${FROM}`);
const find = statement<VersionRow>(
  'workflow-versions-find',
  `select ${COLUMNS}, v.graph, v.trigger_type, v.trigger_config, v.allow_reentry ${FROM} and v.version = $3`,
);

/** Returns the stored versions, the newest first: published ones, and those of single-step edits that are in use. */
export async function listWorkflowVersions(
  db: Db,
  projectId: string,
  workflowId: string,
  keys: SigningKeys,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<CursorPage<ListedVersion>> {
  await findWorkflow(db, projectId, workflowId);
  const boundTo = [projectId, 'workflow versions', workflowId];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as number);
  const found = await list(db, [projectId, workflowId, after ?? Number.MAX_SAFE_INTEGER, limit + 1]);
  return cutPage(found, {
    limit,
    total: after === undefined ? await countVersions(db, projectId, workflowId) : 0,
    cursorAfter: ({ version }) => signCursor(keys, boundTo, version),
  });
}

async function countVersions(db: Db, projectId: string, workflowId: string): Promise<number> {
  const [row] = await count(db, [projectId, workflowId]);
  return row?.total ?? 0;
}

async function requireVersionRow(db: Db, projectId: string, workflowId: string, version: number): Promise<VersionRow> {
  const row = await findVersionRow(db, projectId, workflowId, version);
  if (!row) throw notFound('workflow version', 'WORKFLOW_NOT_FOUND');
  return row;
}

async function findVersionRow(
  db: Db,
  projectId: string,
  workflowId: string,
  version: number,
): Promise<VersionRow | undefined> {
  const [row] = await find(db, [projectId, workflowId, version]);
  return row;
}

export async function findWorkflowVersion(
  db: Db,
  projectId: string,
  workflowId: string,
  version: number,
  { secretKeys }: Pick<StepRules, 'secretKeys'>,
): Promise<VersionDetails> {
  const row = await requireVersionRow(db, projectId, workflowId, version);
  return { ...row, graph: opened(secretKeys, projectId, row.graph) };
}

const opened = (keys: SigningKeys, projectId: string, graph: DraftGraph): DraftGraph => {
  const { steps, transitions } = graphContentOf(graph);
  return { steps: steps.map((step) => showStep(keys, projectId, step)), transitions };
};

/** Makes a version the draft, in place of one that the caller has read or saved. */
export async function restoreWorkflowVersion(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  version: number,
  { expectedRevision }: { expectedRevision?: number | undefined },
  rules: StepRules,
): Promise<WorkflowDraft> {
  return changeWorkflow(db, project, workflowId, async (trx, workflow) => {
    const { projectId, draftRevision } = workflow;
    const row = await requireVersionRow(trx, projectId, workflowId, version);
    const draft = await findDraftRow(trx, workflow);
    const isSomeoneElses = draft !== undefined && draft.updatedById !== userIdOf(project.actor);
    if (expectedRevision === undefined ? isSomeoneElses : expectedRevision !== draftRevision)
      throw await draftConflict(
        trx,
        workflow,
        rules,
        expectedRevision === undefined
          ? 'Another user has a draft. Send its revision as "expectedRevision" to replace it.'
          : undefined,
      );
    const settings = settingsOf(workflow, row);
    const graph = opened(rules.secretKeys, projectId, row.graph);
    return storeDraft(trx, project, workflow, { baseVersion: workflow.version, settings, graph }, rules);
  });
}

/** Applies the changes of the draft to the newest version, which may have changed since. */
export async function rebaseDraft(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  { expectedRevision }: { expectedRevision?: number | undefined },
  rules: StepRules,
): Promise<WorkflowDraft> {
  return changeWorkflow(db, project, workflowId, async (trx, workflow) => {
    const { projectId, version } = workflow;
    const row = await findDraftRow(trx, workflow);
    if (!row || (expectedRevision !== undefined && expectedRevision !== workflow.draftRevision))
      throw await draftConflict(trx, workflow, rules, row ? undefined : 'There is no draft.');
    const open = (graph: DraftGraph) => opened(rules.secretKeys, projectId, graph);
    const newest = open(await newestGraph(trx, workflow));
    const base = await findVersionRow(trx, projectId, workflowId, row.baseVersion);
    const draft = open(row.graph);
    const graph = mergeGraphs(base ? open(base.graph) : newest, draft, newest);
    return storeDraft(
      trx,
      project,
      workflow,
      { baseVersion: version, settings: settingsOf(workflow, row), graph },
      rules,
    );
  });
}
