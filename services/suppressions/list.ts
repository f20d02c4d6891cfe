import type { Db } from '../../db/connect.ts';
import type { Suppression, SuppressionReason } from '../../db/models/suppression.ts';
import { joined, sql } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { type CursorPage, countList, cutPage, UNCOUNTED } from '../paging.ts';

export interface SuppressionsQuery {
  limit: number;
  cursor?: string | undefined;
  /** Part of an address, or a whole one. */
  search?: string | undefined;
  reason?: SuppressionReason | undefined;
}

export type ListedSuppression = Pick<Suppression, 'id' | 'email' | 'reason' | 'note' | 'emailId' | 'createdAt'>;

/** Returns the newest first. A whole address is also found where only its hash is left. */
export async function listSuppressions(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  { limit, cursor, search, reason }: SuppressionsQuery,
): Promise<CursorPage<ListedSuppression>> {
  const boundTo = [projectId, 'suppressions', search ?? '', reason ?? ''];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as string);
  const conditions = [sql`project_id = ${projectId}`];
  if (reason) conditions.push(sql`reason = ${reason}`);
  if (search) {
    // Addresses are stored in lower case.
    const text = search.toLowerCase();
    const part = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
    conditions.push(sql`(email like ${part} or address_hash = address_hash(${projectId}::uuid, ${text}))`);
  }
  const filter = joined(conditions, ' and ');
  const rest = after === undefined ? filter : sql`${filter} and id < ${after}`;
  const [rows, total] = await Promise.all([
    queryRows<ListedSuppression>(
      db,
      sql`select id, email, reason, note, email_id, created_at from suppressions where ${rest} order by id desc limit ${limit + 1}`,
    ),
    after === undefined ? countList(db, sql`select 1 from suppressions where ${filter}`) : UNCOUNTED,
  ]);
  return cutPage(rows, { limit, ...total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
}
