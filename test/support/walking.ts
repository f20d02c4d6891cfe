import type { Db } from '../../db/connect.ts';
import { Execution } from '../../db/models/execution.ts';
import { advance, type Next } from '../../services/workflows/advance.ts';
import { testKeys } from './keys.ts';
import { testRenderer } from './renderer.ts';

/** Advances an execution as far as it goes, as a worker would, without Temporal. */
export async function walk(db: Db, executionId: string, now = () => new Date()): Promise<Next> {
  const { generation } = await Execution.query(db).findById(executionId).throwIfNotFound();
  for (;;) {
    const next = await advance({ db, renderer: testRenderer(), now, keys: testKeys }, { executionId, generation });
    if (next.kind !== 'more') return next;
  }
}
