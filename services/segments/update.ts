import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { invalidCondition, requireCondition } from '../conditions/parse.ts';
import type { Uses } from '../conditions/types.ts';
import { recount } from './count.ts';
import { findSegment, lockSegment } from './find.ts';
import { namedViolations, SegmentGraph } from './graph.ts';
import { withSegmentsLock } from './lock.ts';
import { deleteMembers, scheduleReconcile, storeCurrentMembers, storeDependencies } from './tracking.ts';
import { storedUses } from './uses.ts';

/** Undefined fields stay as they are; `condition` is ignored on a static segment. */
export interface SegmentChange {
  name?: string | undefined;
  description?: string | null | undefined;
  condition?: unknown;
  trackMembership?: boolean | undefined;
}

export async function updateSegment(
  db: Db,
  project: ProjectAccess,
  id: string,
  { name, description, condition, trackMembership }: SegmentChange,
): Promise<Segment> {
  const { projectId } = project;
  const changed = await withSegmentsLock(db, project, async (trx) => {
    const before = await lockSegment(trx, projectId, id);
    const isDynamic = before.type === 'DYNAMIC';
    const needsCondition = isDynamic && (condition !== undefined || trackMembership !== undefined);
    const tree = condition === undefined ? before.condition : condition;
    const uses = needsCondition ? requireCondition(tree, { at: 'condition' }).uses : undefined;
    const after = await Segment.query(trx).patchAndFetchById(id, {
      ...defined({ name, description, trackMembership }),
      ...(isDynamic && condition !== undefined ? { condition: condition as Segment['condition'] } : {}),
      ...(uses && storedUses(uses)),
      updatedAt: new Date(),
    });
    const changes = changesOf<Segment>(before, {
      ...defined({ name, description, trackMembership }),
      condition: after.condition,
    });
    if (Object.keys(changes).length > 0)
      await recordAudit(trx, project, { action: 'segment.updated', target: { type: 'segment', id }, changes });
    const isNewCondition = !isDeepStrictEqual(before.condition, after.condition);
    if (uses) await updateMembership(trx, { before, after, uses, isNewCondition });
    return isNewCondition && !after.trackMembership;
  });
  const segment = await findSegment(db, projectId, id);
  return changed ? recount(db, segment) : segment;
}

interface Change {
  before: Segment;
  after: Segment;
  /** What the condition uses from now on. */
  uses: Uses;
  isNewCondition: boolean;
}

/** Updates the membership of the segment and schedules that of the segments that refer to it. */
async function updateMembership(trx: Db, { before, after, uses, isNewCondition }: Change): Promise<void> {
  const isNewlyTracked = after.trackMembership && !before.trackMembership;
  if (!isNewCondition && after.trackMembership === before.trackMembership) return;
  const graph = await SegmentGraph.of(trx, after.projectId);
  const violations = [
    ...graph.violationsOf(after.id, uses, 'condition'),
    ...(await namedViolations(trx, after.projectId, uses)),
  ];
  if (violations.length > 0) throw invalidCondition(violations);
  await storeDependencies(trx, after, graph);
  if (isNewlyTracked) await storeCurrentMembers(trx, after);
  else if (!after.trackMembership) await stopTracking(trx, after);
  if (!isNewCondition) return;
  // The locks wait for transactions that still evaluate them by the old condition.
  const dependents = await Segment.query(trx)
    .where({ projectId: after.projectId })
    .whereIn('id', graph.dependentsOf(after.id))
    .select('id', 'projectId', 'trackMembership')
    .orderBy('id')
    .forUpdate();
  for (const dependent of dependents) await storeDependencies(trx, dependent, graph);
  const ids = dependents.map(({ id }) => id);
  await scheduleReconcile(trx, isNewlyTracked ? ids : [after.id, ...ids]);
}

async function stopTracking(trx: Db, segment: Segment): Promise<void> {
  await deleteMembers(trx, segment);
  await Segment.query(trx).findById(segment.id).patch({ reconcileAt: null });
}

const defined = <T extends object>(given: T): Partial<T> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
