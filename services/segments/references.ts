import type { Db } from '../../db/connect.ts';
import type { Violation } from '../../platform/errors.ts';
import type { ParsedCondition } from '../conditions/types.ts';
import { SegmentGraph } from './graph.ts';

/** Returns what is wrong with the segments that a condition of a campaign or a workflow step refers to. */
export async function referenceViolations(
  db: Db,
  projectId: string,
  parsed: ParsedCondition,
  at: string,
): Promise<Violation[]> {
  if (parsed.uses.segments.size === 0) return [];
  return (await SegmentGraph.of(db, projectId)).violationsOfTree(parsed.uses, at);
}
