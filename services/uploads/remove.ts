import type { Db } from '../../db/connect.ts';
import type { UploadStorage } from '../../platform/storage/upload-storage.ts';

const BATCH = 100;

/** Removes the files of erased projects and of refused uploads. Repeating it is safe. */
export async function removeUploads(db: Db, storage: UploadStorage): Promise<number> {
  const rows = await db('uploadRemovals').limit(BATCH).select<{ key: string }[]>('key');
  for (const { key } of rows) {
    await storage.remove(key).catch((error: unknown) => {
      // Without the cause, a refused connection, which would be logged as an outage of the database.
      throw new Error(`cannot remove an upload from its storage: ${error}`);
    });
    await db('uploadRemovals').where({ key }).del();
  }
  return rows.length;
}
