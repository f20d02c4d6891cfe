import type { Db } from '../../db/connect.ts';
import { daysAgo, dropWeeks, partitionedByWeek } from './partitions.ts';

/** How long the log of deliveries and undelivered events are kept. A week is dropped when all of it is older. */
export const WEBHOOK_RETENTION_DAYS = 30;

const CHUNK = 5_000;

/**
 * Drops weeks of webhook events and deliveries. Rows that the default partition has, because no worker had added their
 * week, are deleted. Returns how many weeks were dropped.
 */
export async function removeOldWebhooks(db: Db, now = new Date()): Promise<number> {
  const before = daysAgo(WEBHOOK_RETENTION_DAYS, now);
  let dropped = 0;
  for (const table of partitionedByWeek) {
    dropped += await dropWeeks(db, table, before);
    for (let removed = CHUNK; removed === CHUNK; )
      removed = (
        await db.raw(
          `delete from ?? where ctid = any (array(select ctid from ?? where created_at < ? limit ${CHUNK}))`,
          [`${table}_default`, `${table}_default`, before],
        )
      ).rowCount;
  }
  return dropped;
}
