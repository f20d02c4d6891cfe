import type { Db } from '../../db/connect.ts';
import type { Partitioned } from './partitions.ts';

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
