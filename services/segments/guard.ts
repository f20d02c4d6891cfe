import { allowSilence, limitStatements } from '../../db/bounds.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { isStatementTimeout } from '../../platform/database-errors.ts';
import { badRequest } from '../../platform/errors.ts';
import { heavyWork } from '../access/heavy-work.ts';

/** Needed because the author of a condition decides what its query costs. */
const TIMEOUT_MS = 10_000;

/** Runs queries over all contacts of a project in a transaction, with a time limit and limited concurrency. */
export async function guarded<T>(
  db: Db,
  projectId: string,
  work: (trx: Db) => Promise<T>,
  timeoutMs = TIMEOUT_MS,
): Promise<T> {
  const limited = () =>
    inTransaction(db, async (trx) => {
      await prepare(trx, timeoutMs);
      const result = await work(trx);
      if (db.isTransaction) await limitStatements(trx, 'default');
      return result;
    });
  try {
    return await heavyWork(db, 'condition', projectId, limited, timeoutMs);
  } catch (error) {
    throw isStatementTimeout(error) ? tooSlow(timeoutMs) : error;
  }
}

const setLimits = statement(
  'condition-limits',
  `select set_config('statement_timeout', $1, true), set_config('work_mem', '32MB', true), set_config('jit', 'off', true)`,
);

/** Gives the transaction memory to hash a million ids. Turns JIT off, which costs more than it gains here. */
export async function prepare(trx: Db, timeoutMs: number): Promise<void> {
  await allowSilence(trx, timeoutMs);
  await setLimits(trx, [String(timeoutMs)]);
}

const tooSlow = (timeoutMs: number) =>
  badRequest(`The condition took longer than ${timeoutMs / 1000} seconds to evaluate.`, {
    suggestion: 'Add a filter that few contacts match, such as a data field that equals a value.',
  });
