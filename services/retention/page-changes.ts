import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

const CHUNK = 5_000;

const remove = statement(
  'retention-page-changes',
  `delete from page_changes where id = any (array(
     select id from page_changes where at < now() - interval '24 hours' order by at limit $1))`,
);

/** Removes what can no longer be undone, and returns how many changes that were. */
export async function removeOldPageChanges(db: Db): Promise<number> {
  for (let removed = 0; ; ) {
    const count = await remove.count(db, [CHUNK]);
    removed += count;
    if (count < CHUNK) return removed;
  }
}
