import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { badRequest, notFound } from '../../platform/errors.ts';

export async function findSegment(db: Db, projectId: string, id: string): Promise<Segment> {
  return found(await Segment.query(db).findOne({ projectId, id }));
}

/** Locks the segment for a change of its condition, so that no other transaction evaluates it meanwhile. */
export async function lockSegment(trx: Db, projectId: string, id: string): Promise<Segment> {
  return found(await Segment.query(trx).findOne({ projectId, id }).forUpdate());
}

function found(segment: Segment | undefined): Segment {
  if (!segment) throw notFound('segment', 'SEGMENT_NOT_FOUND');
  return segment;
}

/** Rejects a segment whose members cannot be set. */
export function requireStatic(segment: Segment): Segment {
  if (segment.type === 'STATIC') return segment;
  throw badRequest('The members of a dynamic segment are determined by its condition and cannot be set.');
}

/** Returns the newest first. */
export async function listSegments(db: Db, projectId: string): Promise<Segment[]> {
  return Segment.query(db).where({ projectId }).orderBy('id', 'desc');
}
