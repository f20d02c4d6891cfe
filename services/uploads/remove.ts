import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { UploadStorage } from '../../platform/storage/upload-storage.ts';

const BATCH = 100;

const next = statement<{ key: string }>('upload-removals', 'select key from upload_removals limit $1');
const remove = statement('upload-removal-remove', 'delete from upload_removals where key = $1');

/** Removes the files of erased projects and of refused uploads. Repeating it is safe. */
export async function removeUploads(db: Db, storage: UploadStorage): Promise<number> {
  const rows = await next(db, [BATCH]);
  for (const { key } of rows) {
    await storage.remove(key).catch((error: unknown) => {
      // Without the cause, a refused connection, which would be logged as an outage of the database.
      throw new Error(`cannot remove an upload from its storage: ${error}`);
    });
    await remove(db, [key]);
  }
  return rows.length;
}
