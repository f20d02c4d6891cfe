import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { daysAgo, dropWeeks, type PartitionedByWeek, partitionedByWeek } from './partitions.ts';

/** How long the log of deliveries and undelivered events are kept. A week is dropped when all of it is older. */
export const WEBHOOK_RETENTION_DAYS = 30;

const CHUNK = 5_000;

const removalFrom = (table: PartitionedByWeek) =>
  statement(
    `retention-${table}`,
    `delete from ${table}_default where ctid = any (array(
       select ctid from ${table}_default where created_at < $1 limit $2))`,
  );
const removeFromDefault = {
  webhook_events: removalFrom('webhook_events'),
  webhook_deliveries: removalFrom('webhook_deliveries'),
} satisfies Record<PartitionedByWeek, unknown>;

/**
 * Drops weeks of webhook events and deliveries. Rows that the default partition has, because no worker had added their
 * week, are deleted. Returns how many weeks were dropped.
 */
export async function removeOldWebhooks(db: Db, now = new Date()): Promise<number> {
  const before = daysAgo(WEBHOOK_RETENTION_DAYS, now);
  let dropped = 0;
  for (const table of partitionedByWeek) {
    dropped += await dropWeeks(db, table, before);
    for (let removed = CHUNK; removed === CHUNK; ) removed = await removeFromDefault[table].count(db, [before, CHUNK]);
  }
  return dropped;
}
