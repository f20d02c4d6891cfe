import type { Db } from '../../db/connect.ts';
import type { Segment } from '../../db/models/segment.ts';
import type { Logger } from '../../platform/logger.ts';
import { logFailure } from '../../platform/outages.ts';
import { recount } from './count.ts';
import { findSegment, listSegments } from './find.ts';

/** An older count is made again when the segment is opened. */
const MAX_AGE_MS = 10 * 60_000;
/** How long a request waits for a count. */
const COUNT_MS = 2_000;

const isOld = ({ countedAt }: Segment): boolean => !countedAt || Date.now() - countedAt.getTime() > MAX_AGE_MS;

/** Returns a segment, counted again if its count is old and counting is fast enough. */
export async function showSegment(db: Db, projectId: string, id: string): Promise<Segment> {
  const segment = await findSegment(db, projectId, id);
  return isOld(segment) ? recount(db, segment, COUNT_MS) : segment;
}

/** The projects whose segments this process counts now. */
const counting = new Map<string, Promise<void>>();

/** Returns the segments with their stored counts, and has old ones counted in the background, one at a time. */
export async function showSegments(db: Db, projectId: string, log: Logger): Promise<Segment[]> {
  const segments = await listSegments(db, projectId);
  const old = segments.filter(isOld);
  if (old.length > 0 && !counting.has(projectId)) counting.set(projectId, recountAll(db, projectId, old, log));
  return segments;
}

async function recountAll(db: Db, projectId: string, segments: Segment[], log: Logger): Promise<void> {
  try {
    // A copy, because the caller shows what is stored.
    for (const segment of segments) await recount(db, segment.$clone());
  } catch (err) {
    logFailure(log, { err, projectId }, 'segments could not be counted');
  } finally {
    counting.delete(projectId);
  }
}
