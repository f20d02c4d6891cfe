import type { Db } from '../../db/connect.ts';
import { ApiError } from '../../platform/errors.ts';

interface Room {
  /** Also the name of the table. */
  what: 'segments' | 'templates' | 'workflows';
  projectId: string;
  max: number;
}

/**
 * Refuses what would be one too many of its kind in the project. Held until the end of the transaction, the lock lets
 * concurrent creations be counted one after the other; segments have taken it before (`oneAtATime`).
 */
export async function requireRoom(trx: Db, { what, projectId, max }: Room): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`${what}/${projectId}`]);
  const { rows } = await trx.raw('select count(*)::integer as there from ?? where project_id = ?', [what, projectId]);
  if (rows[0].there >= max)
    throw new ApiError(409, 'CONFLICT', `This project has ${max} ${what}, which is the limit.`, {
      suggestion: 'Delete one that is no longer used.',
    });
}
