import type { Db } from './db.ts';
import { statement } from './statement.ts';

const lock = statement('advisory-lock', 'select pg_advisory_xact_lock(hashtextextended($1, 0))');

/** Lets one transaction at a time continue under this name, until it ends. */
export async function lockName(trx: Db, name: string): Promise<void> {
  await lock(trx, [name]);
}
