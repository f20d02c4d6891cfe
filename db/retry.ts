import { isDeadlock } from '../platform/database-errors.ts';
import type { Db } from './db.ts';

const ATTEMPTS = 5;

/**
 * Retries work that Postgres rolled back to end a deadlock. Inside a transaction the caller that opened it retries.
 */
export async function retryDeadlocks<T>(db: Db, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work();
    } catch (error) {
      if (db.isTransaction || attempt === ATTEMPTS || !isDeadlock(error)) throw error;
    }
}
