import { lockName } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/connect.ts';
import { identifier, sql } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';

interface Room {
  /** Also the table's name. */
  what: 'forms' | 'segments' | 'templates' | 'topics' | 'workflows' | 'webhook_endpoints' | 'saved_blocks' | 'views';
  projectId: string;
  max: number;
  /** Deleted ones whose rows stay do not count. */
  keepsDeleted?: true;
}

/**
 * Rejects with 409 when the project has `max` of these already. The advisory lock serializes concurrent creations until
 * the end of the transaction; segments have taken it before (`oneAtATime`).
 */
export async function requireBelowLimit(trx: Db, { what, projectId, max, keepsDeleted }: Room): Promise<void> {
  await lockName(trx, `${what}/${projectId}`);
  const [row] = await queryRows<{ existing: number }>(
    trx,
    sql`select count(*)::integer as existing from ${identifier(what)} where project_id = ${projectId}
      ${keepsDeleted ? sql`and deleted_at is null` : sql``}`,
  );
  if (row && row.existing >= max)
    throw new ApiError(409, 'CONFLICT', `This project has reached the limit of ${max} ${what.replaceAll('_', ' ')}.`, {
      suggestion: 'Delete one you no longer use.',
    });
}
