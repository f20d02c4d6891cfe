import type { Db } from '../../db/connect.ts';
import type { OutboxQueue } from '../../db/models/outbox-queue.ts';

export interface QueueDepth {
  queue: OutboxQueue;
  waiting: number;
  parked: number;
  /** Age in seconds of the oldest row that is not parked. */
  oldest: number;
}

/** Returns the depth of each queue that is not empty. */
export async function outboxDepth(db: Db): Promise<QueueDepth[]> {
  return db('outbox')
    .select('queue')
    .select(db.raw('count(*) filter (where parked_at is null)::integer as waiting'))
    .select(db.raw('count(*) filter (where parked_at is not null)::integer as parked'))
    .select(
      db.raw(
        'coalesce(extract(epoch from now() - min(created_at) filter (where parked_at is null)), 0)::float8 as oldest',
      ),
    )
    .groupBy('queue');
}
