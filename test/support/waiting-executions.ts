// Active executions by the thousand, without running them.
import type { Db } from '../../db/connect.ts';
import { newId } from '../../platform/ids.ts';

interface Waiting {
  projectId: string;
  workflowId: string;
  version: number;
  stepId: string | undefined;
  count: number;
}

/** Inserts executions that wait at a step for a day. Their contacts do not exist. */
export async function insertWaiting(db: Db, { projectId, workflowId, version, stepId, count }: Waiting): Promise<void> {
  const ids = Array.from({ length: count }, newId);
  await db.raw(
    `insert into executions (id, project_id, workflow_id, version, contact_id, status, current_step_id, after_position,
       once_per_contact, wake_at)
     select id, ?, ?, ?, gen_random_uuid(), 'WAITING', ?, 0, true, now() + interval '1 day' from unnest(?::uuid[]) as id`,
    [projectId, workflowId, version, stepId ?? null, ids],
  );
}
