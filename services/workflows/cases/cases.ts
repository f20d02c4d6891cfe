import type { Db } from '../../../db/connect.ts';
import { statement } from '../../../db/statement.ts';
import { openCursor, signCursor } from '../../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../../platform/crypto/signed-token.ts';
import { ApiError, badRequest, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { ProjectAccess } from '../../access/keys.ts';
import type { Data } from '../../contacts/data.ts';
import { type CursorPage, cutPage } from '../../paging.ts';
import { changeWorkflow } from '../editing.ts';
import { findWorkflow } from '../find.ts';
import type { SimulatedContact } from '../simulation/index.ts';
import type { ScriptTime } from '../spans.ts';

export interface CaseInput {
  name: string;
  contact: SimulatedContact;
  context?: Data | undefined;
  events?: { at?: ScriptTime | undefined; name: string; data?: Data | undefined }[] | undefined;
  startAt?: string | undefined;
  until?: ScriptTime | null | undefined;
  /** The path that the contact has to take. Without a branch any will do. */
  expect: { stepId: string; branch?: string | null | undefined }[];
}

/** A saved simulation with the path that it has to take. */
export interface WorkflowCase extends Omit<CaseInput, 'startAt' | 'events' | 'context' | 'until'> {
  id: string;
  workflowId: string;
  context: Data | null;
  events: { at?: ScriptTime; name: string; data?: Data }[];
  startAt: Date;
  until: ScriptTime | null;
  createdAt: Date;
  updatedAt: Date;
}

const MAX_CASES = 100;

const OF_WORKFLOW = 'from workflow_cases where project_id = $1 and workflow_id = $2';

const list = statement<WorkflowCase>(
  'cases-list',
  `select * ${OF_WORKFLOW} and ($3::uuid is null or id > $3) and ($4::uuid[] is null or id = any ($4)) order by id limit $5`,
);
const count = statement<{ count: number }>('cases-count', `select count(*)::integer as count ${OF_WORKFLOW}`);
const insert = statement(
  'case-insert',
  `insert into workflow_cases (project_id, workflow_id, id, name, start_at, contact, context, events, until, expect)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);
const replace = statement(
  'case-replace',
  `update workflow_cases set name = $4, start_at = $5, contact = $6, context = $7, events = $8, until = $9, expect = $10,
     updated_at = now() where project_id = $1 and workflow_id = $2 and id = $3`,
);
const remove = statement('case-remove', `delete ${OF_WORKFLOW} and id = $3`);

export async function listCases(
  db: Db,
  projectId: string,
  workflowId: string,
  keys: SigningKeys,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<CursorPage<WorkflowCase>> {
  await findWorkflow(db, projectId, workflowId);
  const boundTo = [projectId, 'workflow cases', workflowId];
  const after = cursor === undefined ? null : openCursor(keys, boundTo, cursor);
  const rows = await list(db, [projectId, workflowId, after, null, limit + 1]);
  const total = cursor === undefined ? await countCases(db, projectId, workflowId) : 0;
  return cutPage(rows, { limit, total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
}

async function countCases(db: Db, projectId: string, workflowId: string): Promise<number> {
  const [row] = await count(db, [projectId, workflowId]);
  return row?.count ?? 0;
}

/** Returns all cases of a workflow, or those with the given ids. */
export async function findCases(
  db: Db,
  projectId: string,
  workflowId: string,
  ids: string[] | undefined,
): Promise<WorkflowCase[]> {
  const rows = await list(db, [projectId, workflowId, null, ids ?? null, null]);
  if (ids && rows.length < new Set(ids).size) throw notFound('case');
  return rows;
}

export async function findCase(db: Db, projectId: string, workflowId: string, id: string): Promise<WorkflowCase> {
  const [found] = await findCases(db, projectId, workflowId, [id]);
  if (!found) throw notFound('case');
  return found;
}

export async function createCase(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  input: CaseInput,
): Promise<WorkflowCase> {
  return changeWorkflow(db, project, workflowId, (trx, { projectId, triggerConfig }) =>
    insertCase(trx, { projectId, workflowId, eventName: triggerConfig.eventName }, input),
  );
}

/** The caller has locked the workflow. */
export async function insertCase(
  trx: Db,
  { projectId, workflowId, eventName }: { projectId: string; workflowId: string; eventName: string | undefined },
  input: CaseInput,
): Promise<WorkflowCase> {
  if ((await countCases(trx, projectId, workflowId)) >= MAX_CASES)
    throw new ApiError(409, 'CONFLICT', `A workflow has at most ${MAX_CASES} cases.`);
  const id = newId();
  const startAt = startOf(input, eventName, new Date());
  await insert(trx, [projectId, workflowId, id, ...columnsOf(input, startAt)]);
  return findCase(trx, projectId, workflowId, id);
}

/** Replaces a case. Without a start it keeps the one that it has, unless an event has an earlier time. */
export async function replaceCase(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  id: string,
  input: CaseInput,
): Promise<WorkflowCase> {
  return changeWorkflow(db, project, workflowId, async (trx, { projectId, triggerConfig }) => {
    const before = await findCase(trx, projectId, workflowId, id);
    const columns = columnsOf(input, startOf(input, triggerConfig.eventName, before.startAt));
    await replace(trx, [projectId, workflowId, id, ...columns]);
    return findCase(trx, projectId, workflowId, id);
  });
}

export async function deleteCase(db: Db, project: ProjectAccess, workflowId: string, id: string): Promise<void> {
  await changeWorkflow(db, project, workflowId, async (trx, { projectId }) => {
    if ((await remove.count(trx, [projectId, workflowId, id])) === 0) throw notFound('case');
  });
}

const MAX_CASE_BYTES = 256 * 1024;

function columnsOf(input: CaseInput, startAt: Date) {
  const { name, contact, context = null, events = [], until = null, expect } = input;
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
  if (JSON.stringify(input).length > MAX_CASE_BYTES)
    throw badRequest(`A case must not exceed ${MAX_CASE_BYTES / 1024} KB.`);
  return [name, startAt, ...[contact, context, events, until, expect].map(json)];
}

/**
 * Returns when a case starts, which is stored: it has to take the same path tomorrow. Without a time it is that of the
 * first event if it triggers the workflow, or else `fallback`, but before every event.
 */
function startOf({ startAt, events = [] }: CaseInput, eventName: string | undefined, fallback: Date): Date {
  if (startAt !== undefined) return new Date(startAt);
  const timed = events.flatMap(({ at, name }) => (typeof at === 'string' ? [{ at: new Date(at), name }] : []));
  const earliest = timed.toSorted((a, b) => a.at.getTime() - b.at.getTime())[0];
  if (earliest && earliest.name === eventName) return earliest.at;
  const first = Math.min(...timed.map(({ at }) => at.getTime() - 1));
  return new Date(Math.min(fallback.getTime(), first));
}
