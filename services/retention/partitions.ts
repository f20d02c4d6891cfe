import { limitStatements } from '../../db/bounds.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { identifier, sql } from '../../db/sql.ts';
import { queryRows, statement } from '../../db/statement.ts';

export const partitioned = ['events', 'email_contents', 'email_bodies', 'audit_log', 'consents'] as const;
export type Partitioned = (typeof partitioned)[number];

/** Tables with weekly partitions by `created_at`. */
export const partitionedByWeek = ['webhook_events', 'webhook_deliveries'] as const;
export type PartitionedByWeek = (typeof partitionedByWeek)[number];

/** A monthly partition. */
export interface Month {
  table: string;
  from: Date;
  to: Date;
}

// Named by month (events_2026_11) or by the Monday of their week (webhook_events_2026_11_16).
const findPartitions = statement<{ name: string }>(
  'partitions',
  `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent = $1::regclass and c.relname ~ $2 order by c.relname`,
);

/** Returns the monthly partitions of a table, the oldest first. */
export async function monthsOf(db: Db, table: Partitioned): Promise<Month[]> {
  const months = await findPartitions(db, [table, '_[0-9]{4}_[0-9]{2}$']);
  return months.map(({ name }) => {
    const year = Number(name.slice(-7, -3));
    const month = Number(name.slice(-2));
    return { table: name, from: new Date(Date.UTC(year, month - 1, 1)), to: new Date(Date.UTC(year, month, 1)) };
  });
}

const DAY_MS = 86_400_000;

export const daysAgo = (days: number, now: Date): Date => new Date(now.getTime() - days * DAY_MS);

/** Lets inserts work for three months when no worker runs. */
const MONTHS_AHEAD = 3;
const WEEKS_AHEAD = 2;

/** Long, because a month may have a hundred million rows. */
const STATEMENT_TIMEOUT_MS = 10 * 60_000;

const limitLockWaits = statement('lock-timeout', `set local lock_timeout = '2s'`);

/** Waits briefly for the lock of a table, because all later statements queue behind it. The next run tries again. */
export async function withLockTimeout(trx: Db): Promise<void> {
  await limitStatements(trx, STATEMENT_TIMEOUT_MS);
  await limitLockWaits(trx);
}

const addMonthPartition = statement<{ added: boolean }>(
  'partition-add-month',
  'select add_month_partition($1, $2::date) as added',
);
const addWeekPartition = statement<{ added: boolean }>(
  'partition-add-week',
  'select add_week_partition($1, $2::date) as added',
);

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

/** Housekeeping: as `addMonths`, for the tables with weekly partitions. */
export async function addWeeks(db: Db, now = new Date()): Promise<number> {
  let added = 0;
  for (const table of partitionedByWeek)
    for (let ahead = 0; ahead <= WEEKS_AHEAD; ahead++) {
      const monday = mondayOf(new Date(now.getTime() + ahead * 7 * DAY_MS))
        .toISOString()
        .slice(0, 10);
      const wasAdded = await inTransaction(db, async (trx) => {
        await withLockTimeout(trx);
        const [row] = await addWeekPartition(trx, [table, monday]);
        return row?.added ?? false;
      });
      if (wasAdded) added++;
    }
  return added;
}

/** Returns the first moment (UTC) of the week that `at` lies in. */
const mondayOf = (at: Date): Date => {
  const daysSinceMonday = (at.getUTCDay() + 6) % 7;
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() - daysSinceMonday));
};

export const dropTable = (trx: Db, name: string) => queryRows(trx, sql`drop table ${identifier(name)}`);

/** Drops the weekly partitions that ended before `before`, and returns how many. */
export async function dropWeeks(db: Db, table: PartitionedByWeek, before: Date): Promise<number> {
  const weeks = await findPartitions(db, [table, '_[0-9]{4}_[0-9]{2}_[0-9]{2}$']);
  const ended = weeks.filter(({ name }) => {
    const monday = Date.parse(`${name.slice(-10).replaceAll('_', '-')}T00:00:00Z`);
    return monday + 7 * DAY_MS <= before.getTime();
  });
  for (const { name } of ended)
    await inTransaction(db, async (trx) => {
      await withLockTimeout(trx);
      await dropTable(trx, name);
    });
  return ended.length;
}

/** `month` is its first day. False: the partition exists. */
export async function addMonth(db: Db, table: Partitioned, month: string): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await withLockTimeout(trx);
    const [row] = await addMonthPartition(trx, [table, month]);
    return row?.added ?? false;
  });
}

/** Autovacuum analyzes partitions, but never the parent table, whose statistics the planner needs too. */
export async function gatherStatistics(db: Db): Promise<void> {
  for (const table of [...partitioned, ...partitionedByWeek])
    await inTransaction(db, async (trx) => {
      await limitStatements(trx, STATEMENT_TIMEOUT_MS);
      await queryRows(trx, sql`analyze only ${identifier(table)}`);
    });
}
