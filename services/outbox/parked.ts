import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

/** A message that failed too often and waits for an operator. */
export interface ParkedMessage {
  id: string;
  queue: string;
  projectId: string;
  workflowId: string;
  action: string;
  attempts: number;
  lastError: string | null;
  parkedAt: Date;
}

const list = statement<ParkedMessage & { count: number }>(
  'outbox-parked',
  `select id, queue, project_id, workflow_id, action, attempts,
     last_error, parked_at, (count(*) over ())::integer as count
   from outbox where parked_at is not null order by id limit $1`,
);

/** Lists parked messages, the oldest first, at most `limit` of them, and counts all. */
export async function listParkedMessages(
  db: Db,
  limit?: number,
): Promise<{ count: number; messages: ParkedMessage[] }> {
  const rows = await list(db, [limit ?? null]);
  return { count: rows[0]?.count ?? 0, messages: rows.map(({ count: _count, ...message }) => message) };
}
