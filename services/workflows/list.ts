import type { Db } from '../../db/connect.ts';
import { Workflow } from '../../db/models/workflow.ts';
import { statement } from '../../db/statement.ts';
import type { OffsetPage } from '../paging.ts';

export interface WorkflowsQuery {
  page: number;
  pageSize: number;
  /** Part of the name or the description. */
  search?: string | undefined;
  status?: 'active' | 'disabled' | undefined;
}

export interface ListedWorkflow {
  workflow: Workflow;
  stepCount: number;
  activeExecutions: number;
}

/** Returns workflows, newest first. */
export async function listWorkflows(
  db: Db,
  projectId: string,
  { page, pageSize, search, status }: WorkflowsQuery,
): Promise<OffsetPage<ListedWorkflow>> {
  const list = Workflow.query(db)
    .where({ projectId, ...(status && { enabled: status === 'active' }) })
    .orderBy([
      { column: 'createdAt', order: 'desc' },
      { column: 'id', order: 'desc' },
    ]);
  if (search) {
    const part = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
    list.where((any) => {
      for (const column of ['name', 'description']) any.orWhereILike(column, part);
    });
  }
  const { results, total } = await list.page(page - 1, pageSize);
  const counts = await countsOf(
    db,
    results.map(({ id }) => id),
  );
  const data = results.map((workflow) => ({ workflow, ...(counts.get(workflow.id) ?? NONE) }));
  return { data, total, page, pageSize, totalPages: Math.ceil(total / pageSize) };
}

const NONE = { stepCount: 0, activeExecutions: 0 };

// One scan of a small index, without rows: a project may have a hundred thousand active executions.
const readCounts = statement<{ id: string } & typeof NONE>(
  'workflows-list-counts',
  `with active as materialized (
     select workflow_id, count(*)::integer as count from executions
     where workflow_id = any ($1::uuid[]) and status in ('RUNNING', 'WAITING') group by workflow_id
   )
   select wanted.id, (select jsonb_array_length(v.graph -> 'steps') from workflow_versions v join workflows w on w.id = v.workflow_id
       where v.workflow_id = wanted.id and v.version = w.version) as step_count,
     coalesce(active.count, 0) as active_executions
   from unnest($1::uuid[]) as wanted (id) left join active on active.workflow_id = wanted.id`,
);

async function countsOf(db: Db, ids: string[]): Promise<Map<string, typeof NONE>> {
  const rows = await readCounts(db, [ids]);
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
}
