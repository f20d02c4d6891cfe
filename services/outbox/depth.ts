import type { Db } from '../../db/connect.ts';
import type { OutboxQueue } from '../../db/models/outbox-queue.ts';
import { statement } from '../../db/statement.ts';

export interface QueueDepth {
  queue: OutboxQueue;
  waiting: number;
  parked: number;
  /** Age in seconds of the oldest row that is not parked. */
  oldest: number;
}

const depth = statement<QueueDepth>(
  'outbox-depth',
  `select queue, count(*) filter (where parked_at is null)::integer as waiting,
     count(*) filter (where parked_at is not null)::integer as parked,
     coalesce(extract(epoch from now() - min(created_at) filter (where parked_at is null)), 0)::float8 as oldest
   from outbox group by queue`,
);

/** Returns the depth of each queue that is not empty. */
export const outboxDepth = (db: Db): Promise<QueueDepth[]> => depth(db, []);
