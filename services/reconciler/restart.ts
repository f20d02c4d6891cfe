import { type Db, inTransaction } from '../../db/connect.ts';
import { kinds } from './kinds.ts';

/**
 * Starts a Temporal workflow anew from the state of its row, under a new generation where its kind has them. For workflows
 * that were terminated on purpose. Returns false for kinds without a row: their Schedule starts the next one.
 */
export async function restartWorkflow(db: Db, workflowId: string, workflowType: string): Promise<boolean> {
  const kind = kinds.find((one) => one.workflowType === workflowType);
  // `<kind>/<project>/<id>/…`; senders have a number instead: `sender/<n>`.
  const [, projectOrNumber, id] = workflowId.split('/');
  const key = workflowType === 'sender' ? projectOrNumber : id;
  if (!kind || !key) return false;
  await inTransaction(db, (trx) => kind.revive(trx, key));
  return true;
}
