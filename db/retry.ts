import type { Db } from './connect.ts';

const DEADLOCK = '40P01';
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
      if (db.isTransaction || attempt === ATTEMPTS || codeOf(error) !== DEADLOCK) throw error;
    }
}

/** Objection wraps what the driver says. */
function codeOf(error: unknown): string | undefined {
  const { code, nativeError } = error as { code?: string; nativeError?: { code?: string } };
  return nativeError?.code ?? code;
}
