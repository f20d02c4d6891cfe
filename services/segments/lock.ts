import { lockName } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/connect.ts';
import { heavyWork } from '../access/heavy-work.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';

/**
 * Allows one change of a project's segments at a time: two concurrent changes that refer to each other could close a
 * circle. Changes of the same process wait before they take a connection.
 */
export function withSegmentsLock<T>(db: Db, project: ProjectAccess, work: (trx: Db) => Promise<T>): Promise<T> {
  const { projectId } = project;
  return heavyWork(db, 'segmentChange', projectId, () =>
    writing(db, project, async (trx) => {
      await lockName(trx, `segments/${projectId}`);
      return work(trx);
    }),
  );
}
