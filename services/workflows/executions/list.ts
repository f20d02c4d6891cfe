import type { Db } from '../../../db/connect.ts';
import { Execution, type ExecutionStatus, executionStatuses } from '../../../db/models/execution.ts';
import { type Fragment, joined, sql, sqlText } from '../../../db/sql.ts';
import { queryRows, statement } from '../../../db/statement.ts';
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
  asked: ProjectExecutionsQuery,
): Promise<CursorPage<ListedExecution>> {
  const { limit, cursor, workflowId, stepId, enteredStepId, contactId, status } = asked;
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

const conditionOf = (filters: Record<string, string>): Fragment =>
  joined(
    Object.entries(filters).map(([column, value]) => sql`${sqlText(column)} = ${value}`),
    ' and ',
  );

const isBefore = (id: string | undefined): Fragment => (id === undefined ? sql`` : sql`and id < ${id}`);

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
  const isNarrow = Object.keys(filters).length > 1;
  const states = status ? [status] : isNarrow ? [undefined] : executionStatuses;
  const parts = states.map((state) => {
    const condition = conditionOf({ ...filters, ...(state && { status: state }) });
    return sql`(select id from executions where ${condition} ${isBefore(after)} order by id desc limit ${limit})`;
  });
  const found = joined(parts, ' union all ');
  const rows = await queryRows<{ id: string }>(
    db,
    sql`select id from (${found}) found order by id desc limit ${limit}`,
  );
  return rows.map(({ id }) => id);
}

interface EnteredPage {
  /** One more than the page has, if there are more. */
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
  const [row] = await queryRows<{ ids: string[]; total: number; oldest: string; read: number }>(
    db,
    sql`with recent as materialized (
       select id from executions where ${conditionOf(filters)} ${isBefore(after)} order by id desc limit ${sqlText(`${MAX_READ}`)}
     ),
     entered as materialized (
       select id from recent where exists (
         select 1 from execution_steps s where s.execution_id = recent.id and s.step_id = ${stepId})
     )
     select array(select id from entered order by id desc limit ${limit + 1}) as ids,
       (select count(*)::integer from entered) as total,
       (select id from recent order by id limit 1) as oldest, (select count(*)::integer from recent) as read`,
  );
  const { ids, total, oldest, read } = row ?? { ids: [], total: 0, oldest: '', read: 0 };
  if (after !== undefined) return { ids, ...(read === MAX_READ && { lastRead: oldest }), total: UNCOUNTED };
  return read < MAX_READ
    ? { ids, total: { total } }
    : { ids, lastRead: oldest, total: { total, totalEstimated: true } };
}

const countOf = (db: Db, filters: Record<string, string>): Promise<ListTotal> =>
  countList(db, sql`select 1 from executions where ${conditionOf(filters)}`);

type Names = Omit<ListedExecution, 'execution'>;

const namesOf = statement<{ id: string } & Names>(
  'executions-names',
  `select e.id, coalesce(w.name, '') as workflow_name, c.email as contact_email, (
     select step ->> 'name' from workflow_versions v, jsonb_array_elements(v.graph -> 'steps') as step
     where v.workflow_id = e.workflow_id and v.version = e.version and step ->> 'id' = e.current_step_id::text
   ) as current_step_name
   from executions e
   left join workflows w on w.id = e.workflow_id and w.project_id = e.project_id
   left join contacts c on c.id = e.contact_id and c.project_id = e.project_id
   where e.project_id = $1 and e.id = any ($2::uuid[])`,
);

async function withNames(db: Db, projectId: string, ids: string[]): Promise<ListedExecution[]> {
  if (ids.length === 0) return [];
  const executions = await Execution.query(db).where({ projectId }).whereIn('id', ids).orderBy('id', 'desc');
  const names = new Map((await namesOf(db, [projectId, ids])).map(({ id, ...rest }) => [id, rest]));
  const unknown: Names = { workflowName: '', contactEmail: null, currentStepName: null };
  return executions.map((execution) => ({ execution, ...(names.get(execution.id) ?? unknown) }));
}
