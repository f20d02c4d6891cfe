import { freeDisk } from '../../platform/free-disk.ts';
import { cacheDir } from '../cache.ts';
import { root } from '../root.ts';

/** A first start creates a database, compiles the program and may fetch Temporal's server. */
export const FIRST_START_MB = 500;
/** Postgres stops when it cannot create the next file of its write-ahead log, which has 16 MB. */
export const RUNNING_MB = 20;

const MEGABYTE = 1024 ** 2;

/** Returns which disk of the stack has less space than needed; undefined when all have enough. */
export async function diskShortage(home: string, neededMb: number): Promise<string | undefined> {
  for (const folder of [home, root, cacheDir()]) {
    const free = await freeDisk(folder);
    if (free === undefined || free >= neededMb * MEGABYTE) continue;
    return `The disk of ${folder} is full: ${Math.floor(free / MEGABYTE)} MB are free, and ${neededMb} MB are needed.`;
  }
  return undefined;
}
