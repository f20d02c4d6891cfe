import type { Db } from '../../db/connect.ts';
import { Suppression } from '../../db/models/suppression.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { type CursorPage, cutPage } from '../paging.ts';

export interface SuppressionsQuery {
  limit: number;
  cursor?: string | undefined;
}

/** Returns the newest first. */
export async function listSuppressions(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  { limit, cursor }: SuppressionsQuery,
): Promise<CursorPage<Suppression>> {
  const boundTo = [projectId, 'suppressions'];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as string);
  const [rows, total] = await Promise.all([
    Suppression.query(db)
      .where({ projectId })
      .modify((query) => after !== undefined && query.where('id', '<', after))
      .orderBy('id', 'desc')
      .limit(limit + 1),
    after === undefined ? Suppression.query(db).where({ projectId }).resultSize() : 0,
  ]);
  return cutPage(rows, { limit, total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
}
