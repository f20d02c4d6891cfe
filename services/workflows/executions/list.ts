import type { Knex } from 'knex';
import type { Db } from '../../../db/connect.ts';
import { Execution, type ExecutionStatus, executionStatuses } from '../../../db/models/execution.ts';
import { openCursor, signCursor } from '../../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../../platform/crypto/signed-token.ts';
import { type CursorPage, countList, cutPage, type ListTotal, UNCOUNTED } from '../../paging.ts';

export interface ProjectExecutionsQuery {
  limit: number;
  cursor?: string | undefined;
  workflowId?: string | undefined;
  /** The step that they are at, or have failed at. */
  stepId?: string | undefined;
  /** A step of the workflow that they have entered, wherever they are now. */
  enteredStepId?: string | undefined;
  contactId?: string | undefined;
  status?: ExecutionStatus | undefined;
}

/** An execution with the names that a list shows. */
export interface ListedExecution {
  execution: Execution;
  workflowName: string;
  /** Null when the contact was deleted. */
  contactEmail: string | null;
  currentStepName: string | null;
}

/** How many executions a page of those that have entered a step reads at most. */
const MAX_READ = 20_000;

/** Lists the executions of all workflows, newest first. */
export async function listProjectExecutions(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  query: ProjectExecutionsQuery,
): Promise<CursorPage<ListedExecution>> {
  const { limit, cursor, workflowId, stepId, enteredStepId, contactId, status } = query;
  const boundTo = [projectId, 'executions', workflowId ?? '', stepId ?? '', contactId ?? '', status ?? ''];
  if (enteredStepId) boundTo.push(enteredStepId);
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as string);
  const filters: Record<string, string> = {
    project_id: projectId,
    ...(workflowId && { workflow_id: workflowId }),
    ...(stepId && { current_step_id: stepId }),
    ...(contactId && { contact_id: contactId }),
  };
  const cursorAfter = (id: string) => signCursor(keys, boundTo, id);
  if (enteredStepId) {
    const page = await enteredPage(db, { ...filters, ...(status && { status }) }, enteredStepId, after, limit);
    const { ids, lastRead } = page;
    const cut = cutPage(ids, { limit, ...page.total, cursorAfter });
    // The rest of the list follows on the next page, even if this one is short.
    const rest = !cut.hasMore && lastRead !== undefined && { hasMore: true, cursor: cursorAfter(lastRead) };
    return { ...cut, ...rest, data: await withNames(db, projectId, cut.data) };
  }
  const [ids, total] = await Promise.all([
    pageOf(db, filters, status, after, limit + 1),
    after === undefined ? countOf(db, { ...filters, ...(status && { status }) }) : UNCOUNTED,
  ]);
  const page = cutPage(ids, { limit, ...total, cursorAfter });
  return { ...page, data: await withNames(db, projectId, page.data) };
}

/**
 * Returns ids of the page. The index of a project leads with the status, so a list of all states merges a page of each; a
 * list of one workflow, step or contact has an index of its own.
 */
async function pageOf(
  db: Db,
  filters: Record<string, string>,
  status: ExecutionStatus | undefined,
  after: string | undefined,
  limit: number,
): Promise<string[]> {
  const columns = Object.keys(filters).map((column) => `${column} = ?`);
  const isNarrow = columns.length > 1;
  const states = status ? [status] : isNarrow ? [undefined] : executionStatuses;
  const bindings: Knex.RawBinding[] = [];
  const parts = states.map((state) => {
    bindings.push(...Object.values(filters), ...(state ? [state] : []), ...(after ? [after] : []), limit);
    const conditions = [...columns, ...(state ? ['status = ?'] : []), ...(after ? ['id < ?'] : [])];
    return `(select id from executions where ${conditions.join(' and ')} order by id desc limit ?)`;
  });
  const { rows } = await db.raw(`select id from (${parts.join(' union all ')}) found order by id desc limit ?`, [
    ...bindings,
    limit,
  ]);
  return (rows as { id: string }[]).map(({ id }) => id);
}

interface EnteredPage {
  /** One more than the page has, if there are so many. */
  ids: string[];
  /** Set when executions are left that were not read. */
  lastRead?: string;
  total: ListTotal;
}

/** Reads a bounded number of executions, newest first, and keeps those that have entered a step. */
async function enteredPage(
  db: Db,
  filters: Record<string, string>,
  stepId: string,
  after: string | undefined,
  limit: number,
): Promise<EnteredPage> {
  const conditions = [...Object.keys(filters).map((column) => `${column} = ?`), ...(after ? ['id < ?'] : [])];
  const { rows } = await db.raw(
    `with recent as materialized (
       select id from executions where ${conditions.join(' and ')} order by id desc limit ${MAX_READ}
     ),
     entered as materialized (
       select id from recent where exists (
         select 1 from execution_steps s where s.execution_id = recent.id and s.step_id = ?)
     )
     select array(select id from entered order by id desc limit ?) as ids,
       (select count(*)::integer from entered) as total,
       (select id from recent order by id limit 1) as oldest, (select count(*)::integer from recent) as read`,
    [...Object.values(filters), ...(after ? [after] : []), stepId, limit + 1],
  );
  const [{ ids, total, oldest, read }] = rows as [{ ids: string[]; total: number; oldest: string; read: number }];
  if (after !== undefined) return { ids, ...(read === MAX_READ && { lastRead: oldest }), total: UNCOUNTED };
  return read < MAX_READ
    ? { ids, total: { total } }
    : { ids, lastRead: oldest, total: { total, totalEstimated: true } };
}

function countOf(db: Db, filters: Record<string, string>): Promise<ListTotal> {
  const conditions = Object.keys(filters).map((column) => `${column} = ?`);
  return countList(db, `select 1 from executions where ${conditions.join(' and ')}`, Object.values(filters));
}

interface NamesRow {
  id: string;
  workflow_name: string | null;
  contact_email: string | null;
  step_name: string | null;
}

async function withNames(db: Db, projectId: string, ids: string[]): Promise<ListedExecution[]> {
  if (ids.length === 0) return [];
  const executions = await Execution.query(db).where({ projectId }).whereIn('id', ids).orderBy('id', 'desc');
  const { rows } = await db.raw(
    `select e.id, w.name as workflow_name, c.email as contact_email, (
       select step ->> 'name' from workflow_versions v, jsonb_array_elements(v.graph -> 'steps') as step
       where v.workflow_id = e.workflow_id and v.version = e.version and step ->> 'id' = e.current_step_id::text
     ) as step_name
     from executions e
     left join workflows w on w.id = e.workflow_id and w.project_id = e.project_id
     left join contacts c on c.id = e.contact_id and c.project_id = e.project_id
     where e.project_id = ? and e.id = any (?::uuid[])`,
    [projectId, ids],
  );
  const names = new Map((rows as NamesRow[]).map((row) => [row.id, row]));
  return executions.map((execution) => {
    const { workflow_name = null, contact_email = null, step_name = null } = names.get(execution.id) ?? {};
    return {
      execution,
      workflowName: workflow_name ?? '',
      contactEmail: contact_email,
      currentStepName: step_name,
    };
  });
}
