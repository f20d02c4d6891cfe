import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Returns the folder, or its nearest parent that exists. */
export function existingFolder(target: string): string {
  let folder = resolve(target);
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

/** Returns the free bytes of the disk that the folder is or will be on; undefined where the file system does not say. */
export async function freeDisk(folder: string): Promise<number | undefined> {
  const { bavail, bsize, blocks } = await statfs(existingFolder(folder));
  return blocks > 0 ? bavail * bsize : undefined;
}
