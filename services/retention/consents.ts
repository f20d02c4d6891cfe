import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { daysAgo } from './partitions.ts';

const CHUNK = 5_000;

const remove = statement(
  'retention-consents',
  `delete from consents where id = any (array(
     select id from consents where erased_at < $1 order by erased_at limit $2))`,
);

/** Removes the consent records of contacts that were deleted more than `days` ago, and returns how many. */
export async function removeOldConsents(db: Db, days: number, now = new Date()): Promise<number> {
  for (let removed = 0; ; ) {
    const count = await remove.count(db, [daysAgo(days, now), CHUNK]);
    removed += count;
    if (count < CHUNK) return removed;
  }
}
