import type { Db } from '../../../db/connect.ts';
import { statement } from '../../../db/statement.ts';

/** FAILED executions of one workflow with the same error. */
export interface FailureCause {
  workflowId: string;
  workflowName: string;
  error: string;
  count: number;
  lastFailedAt: Date;
}

export interface FailureCauses {
  causes: FailureCause[];
  /** There are more FAILED executions, or more causes, than were read. */
  truncated: boolean;
}

/** Only this many of the newest FAILED executions are grouped, so that a project with a million is answered as quickly. */
const MAX_READ = 2_000;
const MAX_CAUSES = 100;

const list = statement<FailureCause & { read: number }>(
  'executions-failure-causes',
  `with failed as materialized (
     select workflow_id, error, completed_at from executions
     where project_id = $1 and status = 'FAILED' and ($2::uuid is null or workflow_id = $2)
     order by id desc limit $3
   )
   select f.workflow_id, w.name as workflow_name, coalesce(f.error, '') as error,
     count(*)::integer as count, max(f.completed_at) as last_failed_at, (select count(*)::integer from failed) as read
   from failed f join workflows w on w.id = f.workflow_id and w.project_id = $1
   group by f.workflow_id, w.name, f.error
   order by count(*) desc, max(f.completed_at) desc limit $4`,
);

/** Lists why executions have failed, the most frequent cause first. */
export async function listFailureCauses(db: Db, projectId: string, workflowId?: string): Promise<FailureCauses> {
  const rows = await list(db, [projectId, workflowId ?? null, MAX_READ, MAX_CAUSES + 1]);
  return {
    causes: rows.slice(0, MAX_CAUSES).map(({ read: _read, ...cause }) => cause),
    truncated: rows.length > MAX_CAUSES || (rows[0]?.read ?? 0) >= MAX_READ,
  };
}
