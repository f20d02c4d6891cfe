import type { Db } from '../../db/connect.ts';
import { joined, sql } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { type CursorPage, countList, cutPage, UNCOUNTED } from '../paging.ts';
import type { Upload } from './save.ts';

export interface ListedUpload extends Upload {
  createdAt: Date;
  /** With its microseconds, which a Date does not have. */
  at: string;
}

/** Returns the newest first. */
export async function listUploads(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<CursorPage<ListedUpload>> {
  const boundTo = [projectId, 'uploads'];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as [at: string, key: string]);
  const conditions = [sql`project_id = ${projectId}`];
  if (after) conditions.push(sql`(created_at, key) < (${after[0]}::timestamptz, ${after[1]})`);
  const [rows, total] = await Promise.all([
    queryRows<ListedUpload>(
      db,
      sql`select key, content_type, size, created_at, created_at::text as at from uploads
          where ${joined(conditions, ' and ')} order by uploads.created_at desc, key desc limit ${limit + 1}`,
    ),
    after ? UNCOUNTED : countList(db, sql`select 1 from uploads where project_id = ${projectId}`),
  ]);
  return cutPage(rows, { limit, ...total, cursorAfter: ({ at, key }) => signCursor(keys, boundTo, [at, key]) });
}
