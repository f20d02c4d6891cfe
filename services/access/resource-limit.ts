import type { Db } from '../../db/connect.ts';
import { ApiError } from '../../platform/errors.ts';

interface Room {
  /** Also the table's name. */
  what: 'segments' | 'templates' | 'workflows' | 'webhook_endpoints';
  projectId: string;
  max: number;
}

/**
 * Rejects with 409 when the project has `max` of these already. The advisory lock serializes concurrent creations until
 * the end of the transaction; segments have taken it before (`oneAtATime`).
 */
export async function requireBelowLimit(trx: Db, { what, projectId, max }: Room): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`${what}/${projectId}`]);
  const { rows } = await trx.raw('select count(*)::integer as existing from ?? where project_id = ?', [
    what,
    projectId,
  ]);
  if (rows[0].existing >= max)
    throw new ApiError(409, 'CONFLICT', `This project has reached the limit of ${max} ${what.replaceAll('_', ' ')}.`, {
      suggestion: 'Delete one you no longer use.',
    });
}
