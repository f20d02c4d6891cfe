import { limitStatements } from '../../db/bounds.ts';
import { type Db, inTransaction } from '../../db/connect.ts';

export const partitioned = ['events', 'email_contents'] as const;
export type Partitioned = (typeof partitioned)[number];

/** Made so far ahead that nobody need be there for a quarter of a year. */
const AHEAD = 3;

/** A month may hold a hundred million rows. */
const MONTH_MS = 10 * 60_000;

/** Waiting for the lock of a table makes everybody wait who comes later. The next round tries again. */
export async function withLockTimeout(trx: Db): Promise<void> {
  await limitStatements(trx, MONTH_MS);
  await trx.raw(`set local lock_timeout = '2s'`);
}

/** Housekeeping: the partitions of this month and the next ones. Gives back how many there were not. */
export async function addMonths(db: Db, now = new Date()): Promise<number> {
  let added = 0;
  for (const table of partitioned)
    for (let ahead = 0; ahead <= AHEAD; ahead++) {
      const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)).toISOString().slice(0, 10);
      if (await addMonth(db, table, month)) added++;
    }
  return added;
}

/** `month` is its first day. False: it is there. */
export async function addMonth(db: Db, table: Partitioned, month: string): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await withLockTimeout(trx);
    const { rows } = await trx.raw('select add_month_partition(?, ?::date) as added', [table, month]);
    return rows[0].added;
  });
}

/** Postgres gathers statistics of each month by itself, and of the whole only when it is told to: plans need both. */
export async function gatherStatistics(db: Db): Promise<void> {
  for (const table of partitioned)
    await inTransaction(db, async (trx) => {
      await limitStatements(trx, MONTH_MS);
      await trx.raw('analyze only ??', [table]);
    });
}
