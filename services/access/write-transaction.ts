import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import type { ProjectAccess } from './keys.ts';
import { requireOpenProject } from './open-project.ts';

/** Runs `work` in a transaction whose first statement checks that the caller may still write. Retries deadlocks. */
export function writing<T>(db: Db, project: ProjectAccess, work: (trx: Db) => Promise<T>): Promise<T> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      await requireOpenProject(trx, project);
      return work(trx);
    }),
  );
}
