import type { Db } from '../../db/connect.ts';

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

/** Lists parked messages, the oldest first, at most `limit` of them, and counts all. */
export async function listParkedMessages(
  db: Db,
  limit?: number,
): Promise<{ count: number; messages: ParkedMessage[] }> {
  const parked = () => db('outbox').whereNotNull('parkedAt');
  const messages = await parked()
    .orderBy('id')
    .modify((query) => void (limit !== undefined && query.limit(limit)))
    .select<ParkedMessage[]>('id', 'queue', 'projectId', 'workflowId', 'action', 'attempts', 'lastError', 'parkedAt');
  const [row] = await parked().count();
  return { count: Number(row?.count ?? 0), messages };
}
