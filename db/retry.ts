import { isDeadlock } from '../platform/database-errors.ts';
import type { Db } from './db.ts';

const ATTEMPTS = 5;

/**
 * Postgres ends one of two transactions that wait for each other; that one has done nothing and may simply try again.
 * Inside a transaction that is for whoever opened it to do.
 */
export async function retryDeadlocks<T>(db: Db, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work();
    } catch (error) {
      if (db.isTransaction || attempt === ATTEMPTS || !isDeadlock(error)) throw error;
    }
}
