import type { Db } from '../../db/connect.ts';
import type { UploadStorage } from '../../platform/upload-storage.ts';

const BATCH = 100;

/** Takes away the bytes of uploads whose project is wiped. Done twice it is done once. */
export async function removeUploads(db: Db, storage: UploadStorage): Promise<number> {
  const rows = await db('uploadRemovals').limit(BATCH).select<{ key: string }[]>('key');
  for (const { key } of rows) {
    await storage.remove(key);
    await db('uploadRemovals').where({ key }).del();
  }
  return rows.length;
}
