import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { heavyWork } from '../heavy-work.ts';
import type { ProjectAccess } from '../projects/keys.ts';
import { requireOpenProject } from '../projects/refusal.ts';

/** A transaction that begins by asking whether the caller may still write. */
export function writing<T>(db: Db, project: ProjectAccess, work: (trx: Db) => Promise<T>): Promise<T> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      await requireOpenProject(trx, project);
      return work(trx);
    }),
  );
}

/**
 * One change of the segments of a project at a time: two that refer to each other, each saved while the other is still
 * unknown, would close a circle. Those of this process wait before they take a connection.
 */
export function changingSegments<T>(db: Db, project: ProjectAccess, work: (trx: Db) => Promise<T>): Promise<T> {
  const { projectId } = project;
  return heavyWork(db, 'segmentChange', projectId, () =>
    writing(db, project, async (trx) => {
      await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`segments/${projectId}`]);
      return work(trx);
    }),
  );
}
