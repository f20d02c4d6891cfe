import type { Knex } from 'knex';
import type { QueryBuilder } from 'objection';
import type { Db } from '../../db/connect.ts';
import { Suppression, type SuppressionReason } from '../../db/models/suppression.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { type CursorPage, countList, cutPage, type ListTotal, UNCOUNTED } from '../paging.ts';

export interface SuppressionsQuery {
  limit: number;
  cursor?: string | undefined;
  /** Part of an address, or a whole one. */
  search?: string | undefined;
  reason?: SuppressionReason | undefined;
}

function countOf(db: Db, list: QueryBuilder<Suppression, Suppression[]>): Promise<ListTotal> {
  const { sql, bindings } = list.select(db.raw('1')).toKnexQuery().toSQL();
  return countList(db, sql, bindings as Knex.RawBinding[]);
}

/** Returns the newest first. A whole address is also found where only its hash is left. */
export async function listSuppressions(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  { limit, cursor, search, reason }: SuppressionsQuery,
): Promise<CursorPage<Suppression>> {
  const boundTo = [projectId, 'suppressions', search ?? '', reason ?? ''];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as string);
  const filtered = () =>
    Suppression.query(db)
      .where({ projectId, ...(reason && { reason }) })
      .modify((query) => {
        // Addresses are stored in lower case.
        const text = search?.toLowerCase();
        if (text)
          query.whereRaw('(email like ? or address_hash = address_hash(?::uuid, ?))', [
            `%${text.replace(/[\\%_]/g, '\\$&')}%`,
            projectId,
            text,
          ]);
      });
  const [rows, total] = await Promise.all([
    filtered()
      .modify((query) => after !== undefined && query.where('id', '<', after))
      .orderBy('id', 'desc')
      .limit(limit + 1),
    after === undefined ? countOf(db, filtered()) : UNCOUNTED,
  ]);
  return cutPage(rows, { limit, ...total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
}
