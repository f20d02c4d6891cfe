// Locks, missing tables and connections: what a test does to the database itself.
import type { Db } from '../../../db/connect.ts';

/** Until the transaction ends, no one else reads or writes the table. */
export const lockTable = (trx: Db, table: string, mode = 'access exclusive') =>
  trx.raw(`lock table ${table} in ${mode} mode`);

/** Makes every statement on the table fail. Returns what brings it back. */
export async function hideTable(db: Db, table: string): Promise<() => Promise<void>> {
  await db.raw(`alter table ${table} rename to ${table}_hidden`);
  return async () => void (await db.raw(`alter table ${table}_hidden rename to ${table}`));
}

/** Runs the work while every statement on the table fails. */
export async function whileHidden<T>(db: Db, table: string, work: () => Promise<T>): Promise<T> {
  const restore = await hideTable(db, table);
  return work().finally(restore);
}

/** Makes every update of the table fail. Returns what ends that. */
export async function refuseUpdates(db: Db, table: string): Promise<() => Promise<void>> {
  await db.raw(
    `create function refuse_update() returns trigger language plpgsql as
       $$ begin raise exception 'updates are refused'; end $$;
     create trigger refuse_update before update on ${table} execute function refuse_update()`,
  );
  return async () => void (await db.raw('drop function refuse_update cascade'));
}

export const emptyTables = (db: Db, ...tables: string[]) => db.raw(`truncate ${tables.join(', ')}`);

export const analyzeTables = (db: Db, ...tables: string[]) => db.raw(`analyze ${tables.join(', ')}`);

/** The connections that wait for a lock on a table or a row. */
export const waitingForLocks = (db: Db): Promise<number[]> => db('pg_locks').where({ granted: false }).pluck('pid');

/** The connections to this database that wait for a lock. */
export const blockedConnections = (db: Db): Promise<number[]> =>
  db('pg_stat_activity').where({ waitEventType: 'Lock' }).whereRaw('datname = current_database()').pluck('pid');

export const ownConnection = async (trx: Db): Promise<number> =>
  (await trx.raw('select pg_backend_pid() as pid')).rows[0].pid;

/** Breaks a connection, as an administrator or a failing network does. */
export const breakConnection = (db: Db, pid: number) => db.raw('select pg_terminate_backend(?)', [pid]);

/** Breaks the connections to this database with an application name. */
export const breakConnectionsOf = (db: Db, applicationName: string) =>
  db.raw(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = ? and datname = current_database()`,
    [applicationName],
  );

export const countRows = async (db: Db, table: string, where: object = {}): Promise<number> =>
  Number((await db(table).where(where).count())[0]?.count);

/** The connections to this database with an application name. */
export const connectionsOf = (db: Db, applicationName: string): Promise<number[]> =>
  db('pg_stat_activity').where({ applicationName }).whereRaw('datname = current_database()').pluck('pid');
