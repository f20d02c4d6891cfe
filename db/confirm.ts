import { isOutcomeUnknown } from '../platform/database-errors.ts';
import type { Db } from './db.ts';

/**
 * Runs a write that must not be repeated. When the connection breaks before its result arrives, `find` reads what it wrote:
 * a row means committed. No row proves nothing, because the server may still be committing on the lost connection; then the
 * error is thrown, and the API answers that the outcome is unknown.
 */
export async function confirmed<T>(db: Db, write: () => Promise<T>, find: () => Promise<T | undefined>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    // Inside a transaction nothing is committed yet.
    if (db.isTransaction || !isOutcomeUnknown(error)) throw error;
    const found = await find().catch(() => undefined);
    if (found === undefined) throw error;
    return found;
  }
}
