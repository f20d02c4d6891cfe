import { limitStatements } from '../../db/bounds.ts';
import { type Db, inTransaction } from '../../db/connect.ts';

export const partitioned = ['events', 'email_contents', 'email_bodies', 'audit_log'] as const;
export type Partitioned = (typeof partitioned)[number];

/** A monthly partition. */
export interface Month {
  table: string;
  from: Date;
  to: Date;
}

/** Returns the monthly partitions of a table, the oldest first. */
export async function monthsOf(db: Db, table: Partitioned): Promise<Month[]> {
  const { rows } = await db.raw(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = ?::regclass and c.relname ~ '_[0-9]{4}_[0-9]{2}$' order by c.relname`,
    [table],
  );
  return (rows as { name: string }[]).map(({ name }) => {
    const [year, month] = [Number(name.slice(-7, -3)), Number(name.slice(-2))];
    return { table: name, from: new Date(Date.UTC(year, month - 1, 1)), to: new Date(Date.UTC(year, month, 1)) };
  });
}

const DAY_MS = 86_400_000;

export const daysAgo = (days: number, now: Date): Date => new Date(now.getTime() - days * DAY_MS);

/** Lets inserts work for three months when no worker runs. */
const MONTHS_AHEAD = 3;

/** Long, because a month may have a hundred million rows. */
const STATEMENT_TIMEOUT_MS = 10 * 60_000;

/** Waits briefly for the lock of a table, because all later statements queue behind it. The next run tries again. */
export async function withLockTimeout(trx: Db): Promise<void> {
  await limitStatements(trx, STATEMENT_TIMEOUT_MS);
  await trx.raw(`set local lock_timeout = '2s'`);
}

/** Housekeeping: adds the partitions of this month and the next ones, and returns how many were missing. */
export async function addMonths(db: Db, now = new Date()): Promise<number> {
  let added = 0;
  for (const table of partitioned)
    for (let ahead = 0; ahead <= MONTHS_AHEAD; ahead++) {
      const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)).toISOString().slice(0, 10);
      if (await addMonth(db, table, month)) added++;
    }
  return added;
}

/** `month` is its first day. False: the partition exists. */
export async function addMonth(db: Db, table: Partitioned, month: string): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await withLockTimeout(trx);
    const { rows } = await trx.raw('select add_month_partition(?, ?::date) as added', [table, month]);
    return rows[0].added;
  });
}

/** Autovacuum analyzes partitions, but never the parent table, whose statistics the planner needs too. */
export async function gatherStatistics(db: Db): Promise<void> {
  for (const table of partitioned)
    await inTransaction(db, async (trx) => {
      await limitStatements(trx, STATEMENT_TIMEOUT_MS);
      await trx.raw('analyze only ??', [table]);
    });
}
